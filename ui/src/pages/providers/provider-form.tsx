import { useRef } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import type { Upstream } from '../../api/upstreams.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { useField, useForm } from '../../config/fields/form.ts';
import { withNames } from '../../config/models.ts';
import { renameProvider } from '../../config/rename-provider.ts';
import { addressOf, spelling } from '../../config/spelling.ts';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import { Fold } from '../../parts/layout/fold.tsx';
import { formatOf, withFormat } from './format-entry.ts';
import { KeysField } from './keys-field.tsx';
import { ModelFacts } from './model-facts.tsx';
import { ModelsField } from './models-field.tsx';
import { MoreOptions } from './more-options.tsx';
import { TestConnection } from './test-connection.tsx';
import { UpstreamState } from './upstream-state.tsx';

/** The form for one provider. */
export const ProviderForm = ({
  provider,
  at,
  formats,
  upstream,
  onUpstreamChange,
}: {
  readonly provider: ProviderFile;
  readonly at: number;
  /** Names of all formats. */
  readonly formats: readonly string[];
  readonly upstream: Upstream | undefined;
  readonly onUpstreamChange: () => void;
}) => {
  const { config, change } = useForm();
  const path = `Providers[${at}]`;
  const { name = '' } = provider;
  const urlName = spelling(provider, 'baseUrl');
  const nameBefore = useRef(name);
  const replace = (next: ProviderFile): void =>
    change((before) => ({ ...before, Providers: (before.Providers ?? []).with(at, next) }));
  // Only on blur: a partly typed name may be another provider's.
  const follow = (): void => {
    const from = nameBefore.current;
    const isOthers = (config.Providers ?? []).some(
      (other, index) => index !== at && [from, name].includes(other.name ?? ''),
    );
    if (!isOthers) change((before) => renameProvider(before, from, name));
  };
  return (
    <>
      <div className="form-grid">
        <TextField
          label="Name"
          hint="The part before the comma in provider,model. Rules that use the old name are updated."
          {...useField(`${path}.name`)}
          value={name}
          onFocus={() => {
            // A name that is cleared while typing still counts as the old one.
            if (name !== '') nameBefore.current = name;
          }}
          onBlur={follow}
          onChange={(value) => replace(withMember(provider, 'name', value))}
        />
        <TextField
          label="Base URL"
          hint="The base URL of its API, with or without /v1."
          inputMode="url"
          placeholder="https://"
          {...useField(`${path}.${urlName}`)}
          value={addressOf(provider)}
          onChange={(value) => replace(withMember(provider, urlName, value))}
        />
        <SelectField
          label="Format"
          hint="The API format. Saved as an entry in the transformers."
          value={formatOf(config, name, formats) ?? ''}
          options={[
            { value: '', label: 'Automatic, by base URL' },
            ...formats.map((format) => ({ value: format, label: format })),
          ]}
          disabled={name === ''}
          onChange={(format) => change((before) => withFormat(before, name, format || undefined, formats))}
        />
      </div>
      {provider.credentials !== 'client' && (
        <KeysField
          provider={provider}
          path={path}
          onChange={(keys) => replace(withMember(provider, spelling(provider, 'apiKey'), keys))}
        />
      )}
      <ModelsField
        provider={provider}
        path={path}
        onChange={(names) => replace(withMember(provider, 'models', withNames(provider, names)))}
      />
      <TestConnection provider={provider} />
      {upstream && <UpstreamState upstream={upstream} onChange={onUpstreamChange} />}
      {upstream && (
        <Fold title="What is known of the models">
          <ModelFacts provider={name} />
        </Fold>
      )}
      <MoreOptions provider={provider} path={path} onChange={replace} />
    </>
  );
};
