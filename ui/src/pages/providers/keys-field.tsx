import type { ProviderFile } from '../../api/config/config.ts';
import type { Json } from '../../api/json.ts';
import { useField } from '../../config/fields/form.ts';
import { editedSecret, isReferenceSoFar } from '../../config/reference.ts';
import { commandOf, keysOf, spelling } from '../../config/spelling.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { useRows } from '../../state/use-rows.ts';

/** A provider's key, or several used in rotation. Keys in plain text are never shown. */
export const KeysField = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  readonly onChange: (keys: Json) => void;
}) => {
  const field = spelling(provider, 'apiKey');
  const written = provider[field];
  const keys = Array.isArray(written) ? keysOf(provider) : [keysOf(provider)[0] ?? ''];
  const isList = Array.isArray(written);
  const { error, ...mark } = useField(`${path}.${field}`);
  const rows = useRows(keys, (next) => onChange(next.length > 1 || isList ? next : (next[0] ?? '')));
  return (
    <fieldset className="values">
      <legend className="field-label">{keys.length > 1 ? 'Keys' : 'Key'}</legend>
      {keys.map((key, at) => (
        <div key={rows.keys[at]} className="values-row">
          {commandOf(key) === undefined ? (
            <KeyText
              label={keys.length > 1 ? `Key ${at + 1}` : 'Key'}
              value={String(key)}
              path={isList ? `${path}.${field}[${at}]` : `${path}.${field}`}
              onChange={(value) => rows.set(at, value)}
            />
          ) : (
            <span className="cut">
              by command: <code>{commandOf(key)}</code>
            </span>
          )}
          {(keys.length > 1 || commandOf(key) !== undefined) && (
            <IconButton icon="remove" label={`Remove key ${at + 1}`} onClick={() => rows.remove(at)} />
          )}
        </div>
      ))}
      {isList && error !== undefined && (
        <p className="field-error" {...mark}>
          {error}
        </p>
      )}
      <p className="field-hint">
        The key itself, or <code>$NAME</code>: a variable of the gateway’s environment, which keeps the key out of
        config.json and its backups. Empty if none is needed. A key by command is edited in the JSON.
        {keys.length > 1 &&
          ' Several keys are used in rotation; a rate-limited or rejected key cools down for a while.'}
      </p>
      <div className="row">
        <Button look="quiet" icon="add" onClick={() => onChange([...keys, ''])}>
          Add a key
        </Button>
      </div>
    </fieldset>
  );
};

const KeyText = ({
  label,
  value,
  path,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly path: string;
  readonly onChange: (value: string) => void;
}) => (
  <TextField
    label={label}
    unlabelled
    className="mono"
    placeholder="$PROVIDER_API_KEY"
    // A reference is no secret; anything else is masked from its first character.
    type={isReferenceSoFar(value) ? 'text' : 'password'}
    autoComplete="off"
    {...useField(path)}
    value={value}
    onChange={(next) => onChange(editedSecret(value, next))}
  />
);
