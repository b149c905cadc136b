import { useState } from 'react';
import { type ProviderFile, readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { schemaAt } from '../../config/fields/schema-at.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { modelNames } from '../../config/models.ts';
import { SelectField } from '../../parts/controls/field.tsx';

/** Fields that the form above has, and older spellings. */
const elsewhere = ['name', 'baseUrl', 'apiKey', 'models', 'api_base_url', 'api_key', 'transformer'];

/** What else the configuration's schema has for a provider, or for one of its models. */
export const MoreOptions = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  readonly onChange: (provider: ProviderFile) => void;
}) => {
  const { data } = useLoad(readConfigSchema);
  const [picked, setPicked] = useState('');
  const names = modelNames(provider);
  const at = names.indexOf(picked);
  const { models = [] } = provider;
  const model = models[at];
  const own = data && schemaAt(data, 'Providers');
  const ofModel = own && schemaAt(own, 'models');
  const isSet =
    Object.keys(provider).some((name) => !elsewhere.includes(name)) || models.some((one) => typeof one !== 'string');
  const schema = model === undefined ? own : ofModel;
  if (!schema) return null;
  const value = model === undefined ? provider : typeof model === 'string' ? { name: model } : model;
  const form = withoutFields(schema);
  const set = (next: JsonObject): void => {
    const kept = Object.entries(value).filter(([name]) => elsewhere.includes(name));
    const whole = { ...Object.fromEntries(kept), ...next };
    if (model === undefined) onChange(whole);
    else onChange({ ...provider, models: models.with(at, Object.keys(next).length === 0 ? picked : whole) });
  };
  return (
    <details className="provider-more">
      <summary>More options{isSet && ' (set)'}</summary>
      <div className="stack">
        {names.length > 0 && (
          <SelectField
            label="For"
            hint="What is set for a model overrides what the provider’s list and the gateway know of it."
            value={model === undefined ? '' : picked}
            options={[
              { value: '', label: 'The provider' },
              ...[...new Set(names)].filter(Boolean).map((name) => ({ value: name, label: `Its model ${name}` })),
            ]}
            onChange={setPicked}
          />
        )}
        <SchemaForm
          key={picked}
          schema={form}
          path={model === undefined ? path : `${path}.models[${at}]`}
          titles={{ ...fieldTitles(form), otherBaseUrls: 'Further base URLs', query: 'URL parameters' }}
          value={Object.fromEntries(Object.entries(value).filter(([name]) => !elsewhere.includes(name)))}
          onChange={set}
        />
      </div>
    </details>
  );
};

const withoutFields = (schema: JsonObject): JsonObject => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).filter(
      ([name]) => !elsewhere.includes(name),
    ),
  ),
});
