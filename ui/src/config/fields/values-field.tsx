import type { ReactNode } from 'react';
import type { Json, JsonObject } from '../../api/json.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { editedSecret, isReferenceSoFar } from '../reference.ts';
import { useField } from './form.ts';
import { isSecretField } from './hide-typed.ts';
import { isReplaced, type Member, useMembers } from './use-members.ts';

/** An object of texts as rows of name and value. */
export const ValuesField = ({
  label,
  hint,
  path,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly path: string;
  readonly value: JsonObject;
  /** Gets `undefined` for no rows. */
  readonly onChange: (value: Json | undefined) => void;
}) => {
  const { members, rows } = useMembers(value, (next) => onChange(Object.keys(next).length > 0 ? next : undefined));
  return (
    <fieldset className="form-wide values">
      <legend className="field-label">{label}</legend>
      {members.map(([name, given], at) => (
        <ValueRow
          key={rows.keys[at]}
          title={`${label} ${at + 1}`}
          path={`${path}.${name}`}
          name={name}
          value={given}
          hasLater={isReplaced(members, at)}
          onChange={(...next) => rows.set(at, next)}
          onRemove={() => rows.remove(at)}
        />
      ))}
      {hint && <p className="field-hint">{hint}</p>}
      <Button
        look="quiet"
        icon="add"
        disabled={members.some(([name]) => name === '')}
        onClick={() => rows.add(['', ''])}
      >
        Add<span className="unseen"> to {label}</span>
      </Button>
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
    <div className="values-row">
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
