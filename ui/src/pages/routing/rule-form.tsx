import { useMemo } from 'react';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { textsToValue, valueToTexts } from '../../config/conditions.ts';
import { destinationsOf } from '../../config/destinations.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { useField, useForm } from '../../config/fields/form.ts';
import { Button } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { useRows } from '../../state/use-rows.ts';
import { ConditionEditor } from './condition-editor.tsx';
import { Fallback } from './fallback.tsx';

/** The form for one rule of the user's own: its name, its condition and its destinations. */
export const RuleForm = ({
  rule,
  at,
  onChange,
}: {
  readonly rule: JsonObject;
  readonly at: number;
  readonly onChange: (rule: JsonObject) => void;
}) => {
  const path = `Router.rules[${at}]`;
  const { error } = useField(path);
  return (
    <div className="stack">
      {error !== undefined && <p className="field-error">{error}</p>}
      <TextField
        label="Rule name"
        hint="Letters, digits, dots, hyphens and underscores. Headers, logs and metrics show it."
        className="rule-name"
        {...useField(`${path}.name`)}
        value={typeof rule.name === 'string' ? rule.name : ''}
        onChange={(name) => onChange(withMember(rule, 'name', name))}
      />
      <ConditionEditor
        legend="Condition"
        path={`${path}.when`}
        when={isJsonObject(rule.when) ? rule.when : {}}
        onChange={(when) => onChange(withMember(rule, 'when', when))}
      />
      <Destinations path={`${path}.to`} rule={rule} onChange={onChange} />
    </div>
  );
};

/** The destination of a rule, and its fallbacks. */
const Destinations = ({
  path,
  rule,
  onChange,
}: {
  readonly path: string;
  readonly rule: JsonObject;
  readonly onChange: (rule: JsonObject) => void;
}) => {
  const { config } = useForm();
  const options = useMemo(() => destinationsOf(config), [config]);
  const texts = valueToTexts(rule.to);
  const rows = useRows(texts.length === 0 ? [''] : texts, (next) =>
    onChange(withMember(rule, 'to', textsToValue(next))),
  );
  const list = useField(path);
  const isList = Array.isArray(rule.to);
  return (
    <div className="stack-tight">
      <p className="field-label">Destination, then fallbacks</p>
      <SortableList
        label="Destinations"
        rows={rows.keys.map((key, index) => ({
          key,
          name: texts[index] || 'the destination',
          head: (
            <Fallback
              label={index === 0 ? 'Destination' : `Fallback ${index}`}
              path={isList ? `${path}[${index}]` : path}
              options={options}
              value={texts[index] ?? ''}
              onChange={(value) => rows.set(index, value)}
            />
          ),
        }))}
        onMove={rows.move}
        onRemove={rows.remove}
      />
      {isList && list.error !== undefined && <p className="field-error">{list.error}</p>}
      <div className="row">
        <Button look="quiet" icon="add" onClick={() => rows.add('')}>
          Add a fallback<span className="unseen"> to this rule</span>
        </Button>
      </div>
    </div>
  );
};
