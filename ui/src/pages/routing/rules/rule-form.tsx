import { isJsonObject, type JsonObject } from '../../../api/json.ts';
import { textsToValue, valueToTexts } from '../../../config/conditions.ts';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField } from '../../../config/fields/form.ts';
import { CheckField, TextField } from '../../../parts/controls/field.tsx';
import { ConditionEditor } from './condition-editor.tsx';
import { DestinationsField } from './destinations-field.tsx';

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
  const isList = Array.isArray(rule.to);
  return (
    <div className="stack">
      {error !== undefined && <p className="field-error">{error}</p>}
      <TextField
        label="Rule name"
        hint="Letters, digits, dots, hyphens and underscores. Headers, logs and metrics show it."
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
      <CheckField
        label="Hold until the user speaks again"
        hint="Once the condition held, the rule stays for the rest of the turn, through its tool calls."
        checked={rule.hold === 'turn'}
        onChange={(holds) => onChange(withMember(rule, 'hold', holds ? 'turn' : undefined))}
      />
      <DestinationsField
        value={valueToTexts(rule.to)}
        pathOf={(index) => (isList ? `${path}.to[${index}]` : `${path}.to`)}
        listPath={`${path}.to`}
        onChange={(next) => onChange(withMember(rule, 'to', textsToValue(next)))}
      />
    </div>
  );
};
