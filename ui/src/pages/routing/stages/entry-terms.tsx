import { readConfigSchema } from '../../../api/config/config.ts';
import { isJsonObject, type JsonObject } from '../../../api/json.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { Entry } from '../../../config/draft/entry.ts';
import { Described } from '../../../config/fields/described.tsx';
import { withMember } from '../../../config/fields/field-path.ts';
import { fieldTitles } from '../../../config/fields/field-titles.ts';
import { schemaAt } from '../../../config/fields/schema-at.ts';
import { SchemaForm } from '../../../config/fields/schema-form.tsx';
import { Button } from '../../../parts/controls/button.tsx';
import { ConditionEditor } from '../rules/condition-editor.tsx';

/** How a stage runs: for which requests, for how long, and what follows when it fails. Words come from the configuration's schema. */
export const EntryTerms = ({
  entry,
  path,
  onChange,
}: {
  readonly entry: Entry;
  readonly path: string;
  readonly onChange: (entry: Entry) => void;
}) => {
  const { data } = useLoad(readConfigSchema);
  const schema = data && schemaAt(data, 'transformers');
  if (!schema) return null;
  const { when } = entry;
  const condition = isJsonObject(schema.properties) ? schema.properties.when : undefined;
  const about = isJsonObject(condition) && typeof condition.description === 'string' ? condition.description : '';
  const values: JsonObject = Object.fromEntries(
    terms.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])),
  );
  const isSet = when !== undefined || Object.keys(values).length > 0;
  return (
    <details>
      <summary>When it runs, and what follows when it fails{isSet && ' (set)'}</summary>
      <div className="stack">
        <SchemaForm
          schema={schema}
          titles={fieldTitles(schema)}
          shown={terms}
          path={path}
          value={values}
          onChange={(next) => onChange(terms.reduce((changed, name) => withMember(changed, name, next[name]), entry))}
        />
        <p className="soft small">
          <Described text={about} />
        </p>
        {when === undefined ? (
          <div className="row">
            <Button look="quiet" icon="add" onClick={() => onChange(withMember(entry, 'when', {}))}>
              Add a condition
            </Button>
          </div>
        ) : (
          <ConditionEditor
            legend="Condition"
            path={`${path}.when`}
            when={isJsonObject(when) ? when : {}}
            onChange={(next) => onChange(withMember(entry, 'when', next))}
            onRemove={() => onChange(withMember(entry, 'when', undefined))}
          />
        )}
      </div>
    </details>
  );
};

const terms = ['timeoutMs', 'onError'] as const;
