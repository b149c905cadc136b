import { useState } from 'react';
import type { ProviderFile } from '../../api/config.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { JsonField } from '../../config/json-field.tsx';
import { modelNames, withModelMember } from '../../config/models.ts';
import { SelectField } from '../../parts/field.tsx';

const fields = [
  {
    name: 'headers',
    label: 'Headers',
    hint: 'An object of names and values, such as {"http-referer": "https://example.org"}.',
  },
  {
    name: 'query',
    label: 'URL parameters',
    hint: 'An object of names and values, such as {"api-version": "2026-10-01"}.',
  },
  { name: 'body', label: 'Body', hint: 'Members that are merged into the request’s JSON; null removes one.' },
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
      {fields.map(({ name, label, hint }) => (
        <JsonField
          key={`${scope} ${name}`}
          label={label}
          hint={hint}
          path={model === undefined ? `${path}.${name}` : `${path}.models[${at}].${name}`}
          value={holder[name]}
          maxLines={8}
          problemOf={(value) => (isJsonObject(value) ? undefined : 'must be an object')}
          onChange={(value) => set(name, value)}
        />
      ))}
    </details>
  );
};
