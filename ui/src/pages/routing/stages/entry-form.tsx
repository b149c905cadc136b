import type { Transformer } from '../../../api/config/transformers.ts';
import type { Entry } from '../../../config/draft/entry.ts';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField } from '../../../config/fields/form.ts';
import { ModelPicker } from '../../../config/fields/model-picker.tsx';
import { SchemaForm } from '../../../config/fields/schema-form.tsx';
import { modelNames } from '../../../config/models.ts';
import { sentence } from '../../../format/figures.ts';
import { ComboField } from '../../../parts/controls/combo-field.tsx';
import { CheckField, TextField } from '../../../parts/controls/field.tsx';
import { Notice } from '../../../parts/layout/notice.tsx';
import { useRoutingConfig } from '../use-routing-config.ts';
import { EntryTerms } from './entry-terms.tsx';

const anything = { type: 'object' };

/** The form for one entry. */
export const EntryForm = ({
  entry,
  at,
  known,
  transformers,
  onChange,
}: {
  readonly entry: Entry;
  readonly at: number;
  readonly known: Transformer | undefined;
  readonly transformers: readonly Transformer[];
  readonly onChange: (entry: Entry) => void;
}) => {
  const config = useRoutingConfig();
  const path = `transformers[${at}]`;
  const { name, path: file, provider, models, ask, options = {} } = entry;
  const providers = (config.Providers ?? []).flatMap((one) => (one.name ? [one.name] : []));
  const nameField = useField(`${path}.name`);
  const moduleField = useField(`${path}.path`);
  const providerField = useField(`${path}.provider`);
  const entryField = useField(path);
  return (
    <>
      {known?.about && <p>{known.about}</p>}
      {known?.state === 'failed' && (
        <Notice kind="failed" title="Module not loaded">
          {sentence(known.error ?? 'The module was not found')} Routes that use it fail with 500 until it is fixed.
        </Notice>
      )}
      {known?.state === 'stale' && (
        <Notice kind="failed" title="Change not loaded">
          {sentence(known.error ?? 'The changed module has a fault')} What was loaded before stays in use.
        </Notice>
      )}
      {entryField.error !== undefined && <p className="field-error">{entryField.error}</p>}
      <div className="form-grid">
        {file === undefined ? (
          <ComboField
            label="Transformer"
            {...nameField}
            value={name ?? ''}
            options={transformers.flatMap((one) =>
              one.kind === 'custom' ? [] : [{ value: one.name, note: one.kind }],
            )}
            onChange={(value) => onChange(withMember(entry, 'name', value))}
          />
        ) : (
          <TextField
            label="Module"
            hint="A path in the configuration’s folder, or in a folder passed at startup."
            placeholder="stages/my-stage.ts"
            {...moduleField}
            value={file}
            onChange={(value) => onChange(withMember(entry, 'path', value))}
          />
        )}
        <ComboField
          label="Provider"
          hint="Leave empty for all providers."
          placeholder="All providers"
          {...providerField}
          value={provider ?? ''}
          options={providers.map((value) => ({ value }))}
          onChange={(value) => onChange(withMember(entry, 'provider', value || undefined))}
        />
      </div>
      <CheckField
        label="Only specific models"
        checked={models !== undefined}
        onChange={(isNarrow) => onChange(withMember(entry, 'models', isNarrow ? [] : undefined))}
      />
      {models !== undefined && (
        <ModelPicker
          path={`${path}.models`}
          listed={(config.Providers ?? [])
            .filter((one) => provider === undefined || one.name === provider)
            .flatMap(modelNames)}
          picked={models}
          onChange={(next) => onChange(withMember(entry, 'models', next))}
        />
      )}
      {(known?.asks || known?.kind === 'custom' || ask !== undefined) && (
        <ModelPicker
          legend="Whom it asks"
          path={`${path}.ask`}
          listed={[
            ...(config.Providers ?? []).flatMap((one) => modelNames(one).map((model) => `${one.name},${model}`)),
            ...(config.Pools ?? []).flatMap((pool) => pool.name ?? []),
          ]}
          picked={ask ?? []}
          onChange={(next) => onChange(withMember(entry, 'ask', next.length === 0 ? undefined : next))}
        />
      )}
      {known?.kind !== 'format' && <EntryTerms entry={entry} path={path} onChange={onChange} />}
      <SchemaForm
        schema={known?.options ?? anything}
        path={`${path}.options`}
        value={options}
        onChange={(next) => onChange(withMember(entry, 'options', Object.keys(next).length === 0 ? undefined : next))}
      />
    </>
  );
};
