import { type ProviderFile, readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { fieldTitles } from '../../config/fields/field-titles.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';

/** How long a provider may take, where that differs from the settings; made from the configuration's schema. */
export const ProviderTimeouts = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  /** Gets `undefined` for none. */
  readonly onChange: (timeouts: Json | undefined) => void;
}) => {
  const { data } = useLoad(readConfigSchema);
  const schema = data && schemaAt(data, 'Providers', 'items', 'timeouts');
  if (!schema) return null;
  const { timeouts } = provider;
  return (
    <details className="call-extras">
      <summary>Timeouts{timeouts && ' (set)'}</summary>
      <p className="field-hint">Empty: those of the settings.</p>
      <SchemaForm
        schema={{ ...schema, additionalProperties: false }}
        path={`${path}.timeouts`}
        titles={fieldTitles(schema)}
        value={isJsonObject(timeouts) ? timeouts : {}}
        onChange={(next) => onChange(Object.keys(next).length > 0 ? next : undefined)}
      />
    </details>
  );
};

/** A schema within another: each name is that of a member, or `items`. */
const schemaAt = (schema: JsonObject, ...names: readonly string[]): JsonObject | undefined =>
  names.reduce<JsonObject | undefined>((at, name) => {
    const inner = name === 'items' ? at?.items : isJsonObject(at?.properties) ? at.properties[name] : undefined;
    return isJsonObject(inner) ? inner : undefined;
  }, schema);
