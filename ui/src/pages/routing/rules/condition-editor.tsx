import { isJsonObject, type Json, type JsonObject } from '../../../api/json.ts';
import { facts, joins, withNewMember } from '../../../config/conditions.ts';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField } from '../../../config/fields/form.ts';
import { Button, IconButton } from '../../../parts/controls/button.tsx';
import { SelectField } from '../../../parts/controls/field.tsx';
import { useRows } from '../../../state/use-rows.ts';
import { FactField } from './fact-field.tsx';

/** A condition: its facts as fields, and the conditions that it joins. All of them must hold. */
export const ConditionEditor = ({
  legend,
  path,
  when,
  onChange,
  onRemove,
}: {
  readonly legend: string;
  readonly path: string;
  readonly when: JsonObject;
  readonly onChange: (when: JsonObject) => void;
  readonly onRemove?: () => void;
}) => {
  const { error, ...mark } = useField(path);
  const unused = [...facts, ...joins].filter(({ name }) => when[name] === undefined);
  return (
    <fieldset className="condition">
      <legend>{legend}</legend>
      {Object.keys(when).length === 0 && <p className="soft small">No facts: every request matches.</p>}
      {Object.entries(when).map(([name, value]) => (
        <div key={name} className="condition-member">
          <Member
            name={name}
            path={`${path}.${name}`}
            value={value}
            onChange={(next) => onChange(withMember(when, name, next))}
          />
          <IconButton
            icon="remove"
            label={`Remove ${titleOf(name)}`}
            onClick={() => onChange(withMember(when, name, undefined))}
          />
        </div>
      ))}
      {error !== undefined && <p className="field-error">{error}</p>}
      <div className="row">
        <SelectField
          {...mark}
          label="Add to this condition"
          unlabelled
          value=""
          options={[
            { value: '', label: 'Add a fact …' },
            ...unused.map(({ name, title }) => ({ value: name, label: title })),
          ]}
          onChange={(name) => name !== '' && onChange(withNewMember(when, name))}
        />
        {onRemove && (
          <Button look="quiet" icon="remove" onClick={onRemove}>
            Remove this condition
          </Button>
        )}
      </div>
    </fieldset>
  );
};

interface MemberProps {
  readonly name: string;
  readonly path: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
}

const titleOf = (name: string): string => [...facts, ...joins].find((one) => one.name === name)?.title ?? name;

const Member = (props: MemberProps) => {
  const { name, path, value, onChange } = props;
  const { error, ...mark } = useField(path);
  const fact = facts.find((one) => one.name === name);
  if (fact) return <FactField fact={fact} path={path} value={value} onChange={onChange} />;
  if (name === 'all' || name === 'any') return <Joined {...props} />;
  if (name === 'not') {
    return (
      <ConditionEditor legend={titleOf(name)} path={path} when={isJsonObject(value) ? value : {}} onChange={onChange} />
    );
  }
  return (
    <p className="field-error" tabIndex={-1} {...mark}>
      <code>{name}</code> {error ?? 'is unknown.'}
    </p>
  );
};

/** The conditions of `all` or `any`. */
const Joined = ({ name, path, value, onChange }: MemberProps) => {
  const list = Array.isArray(value) ? value.map((one: Json) => (isJsonObject(one) ? one : {})) : [];
  const rows = useRows<JsonObject>(list, onChange);
  const { error, ...mark } = useField(path);
  return (
    <div className="stack-tight">
      <p className="field-label">{titleOf(name)}</p>
      {list.map((when, at) => (
        <ConditionEditor
          key={rows.keys[at]}
          legend={`${titleOf(name)}: condition ${at + 1}`}
          path={`${path}[${at}]`}
          when={when}
          onChange={(next) => rows.set(at, next)}
          onRemove={() => rows.remove(at)}
        />
      ))}
      {error !== undefined && <p className="field-error">{error}</p>}
      <div className="row">
        <Button look="quiet" icon="add" {...mark} onClick={() => rows.add({})}>
          Add a condition<span className="unseen"> to {titleOf(name)}</span>
        </Button>
      </div>
    </div>
  );
};
