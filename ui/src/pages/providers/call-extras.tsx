import { useState } from 'react';
import type { ProviderFile } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { isReplaced, type Member, useMembers } from '../../config/draft/use-members.ts';
import { useField } from '../../config/fields/form.ts';
import { isSecretField } from '../../config/fields/hide-typed.ts';
import { JsonField } from '../../config/fields/json-field.tsx';
import { modelNames, withModelMember } from '../../config/models.ts';
import { editedSecret, isReferenceSoFar } from '../../config/reference.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { SelectField, TextField } from '../../parts/controls/field.tsx';

const fields = [
  {
    name: 'headers',
    label: 'Headers',
    hint: 'Each replaces the gateway’s own header of that name. $NAME stands for an environment variable.',
    row: 'header',
  },
  {
    name: 'query',
    label: 'URL parameters',
    hint: '$NAME stands for an environment variable.',
    row: 'URL parameter',
  },
  {
    name: 'body',
    label: 'Body',
    hint: 'Members that are merged into the request’s JSON; null removes one.',
    row: undefined,
  },
] as const;

/** What calls to a provider, or to one of its models, have in addition. */
export const CallExtras = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  /** Sets a member of the provider. */
  readonly onChange: (member: string, value: Json | undefined) => void;
}) => {
  const { models = [] } = provider;
  const names = modelNames(provider);
  const [scope, setScope] = useState('');
  const at = names.indexOf(scope);
  const model = models[at];
  const holder = model === undefined ? provider : typeof model === 'string' ? {} : model;
  const set = (member: string, value: Json | undefined): void =>
    model === undefined
      ? onChange(member, value)
      : onChange('models', models.with(at, withModelMember(model, member, value)));
  const isSet = [provider, ...models].some((one) => typeof one !== 'string' && fields.some(({ name }) => one[name]));
  return (
    <details className="call-extras">
      <summary>Additional headers, URL parameters and body members{isSet && ' (set)'}</summary>
      <SelectField
        label="For"
        hint="What is set for a model is added to what is set for all."
        value={model === undefined ? '' : scope}
        options={[
          { value: '', label: 'All models of this provider' },
          ...names.filter(Boolean).map((name) => ({ value: name, label: name })),
        ]}
        onChange={setScope}
      />
      {fields.map(({ name, label, hint, row }) => {
        const value = holder[name];
        const field = {
          label,
          hint,
          path: model === undefined ? `${path}.${name}` : `${path}.models[${at}].${name}`,
          onChange: (next: Json | undefined) => set(name, next),
        };
        return row !== undefined && (value === undefined || isJsonObject(value)) ? (
          <ValuesField key={`${scope} ${name}`} {...field} row={row} value={value ?? {}} />
        ) : (
          <JsonField
            key={`${scope} ${name}`}
            {...field}
            value={value}
            maxLines={8}
            problemOf={(next) => (isJsonObject(next) ? undefined : 'must be an object')}
          />
        );
      })}
    </details>
  );
};

/** An object as rows of name and value. */
const ValuesField = ({
  label,
  hint,
  row,
  path,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  /** What a row holds. */
  readonly row: string;
  readonly path: string;
  readonly value: JsonObject;
  /** Gets `undefined` for no rows. */
  readonly onChange: (value: Json | undefined) => void;
}) => {
  const { members, rows } = useMembers(value, (next) => onChange(Object.keys(next).length > 0 ? next : undefined));
  return (
    <fieldset className="keys">
      {members.length > 0 && <legend className="field-label">{label}</legend>}
      {members.map(([name, given], at) => (
        <ValueRow
          key={rows.keys[at]}
          title={`${row} ${at + 1}`}
          path={`${path}.${name}`}
          name={name}
          value={given}
          hasLater={isReplaced(members, at)}
          onChange={(...next) => rows.set(at, next)}
          onRemove={() => rows.remove(at)}
        />
      ))}
      {members.length > 0 && <p className="field-hint">{hint}</p>}
      <div className="row">
        <Button
          look="quiet"
          icon="add"
          disabled={members.some(([name]) => name === '')}
          onClick={() => rows.add(['', ''])}
        >
          Add a {row}
        </Button>
      </div>
    </fieldset>
  );
};

const ValueRow = ({
  title,
  path,
  name,
  value,
  hasLater,
  onChange,
  onRemove,
}: {
  readonly title: string;
  readonly path: string;
  readonly name: string;
  readonly value: Json;
  /** A later row has the same name. */
  readonly hasLater: boolean;
  readonly onChange: (...member: Member) => void;
  readonly onRemove: () => void;
}) => {
  // A value that isn't text is shown as JSON, and becomes text once it is edited.
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const { error, ...mark } = useField(path);
  return (
    <div className="key-row">
      <TextField
        label={`Name of ${title}`}
        unlabelled
        placeholder="Name"
        {...mark}
        error={hasLater ? 'Is set again below; only that value is used.' : error}
        value={name}
        onChange={(next) => onChange(next, value)}
      />
      <TextField
        label={`Value of ${title}`}
        unlabelled
        placeholder="Value"
        type={isSecretField(name) && !isReferenceSoFar(text) ? 'password' : 'text'}
        value={text}
        onChange={(next) => onChange(name, editedSecret(text, next))}
      />
      <IconButton icon="remove" label={`Remove ${title}`} onClick={onRemove} />
    </div>
  );
};
