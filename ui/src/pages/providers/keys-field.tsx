import type { ProviderFile } from '../../api/config.ts';
import type { Json } from '../../api/json.ts';
import { useField } from '../../config/form.ts';
import { isLiteralKey, isReferenceSoFar } from '../../config/reference.ts';
import { keysOf, spelling } from '../../config/spelling.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useRows } from '../../state/use-rows.ts';

/** A provider's key, or several that take turns. What isn't a reference to the environment is never shown. */
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
  const keys = Array.isArray(written) ? written.map(String) : [keysOf(provider)[0] ?? ''];
  const isList = Array.isArray(written);
  const { error, ...mark } = useField(`${path}.${field}`);
  const rows = useRows(keys, (next) => onChange(next.length > 1 || isList ? next : (next[0] ?? '')));
  return (
    <fieldset className="keys">
      <legend className="field-label">{keys.length > 1 ? 'Keys' : 'Key'}</legend>
      {keys.map((key, at) => (
        <div key={rows.keys[at]} className="key-row">
          <KeyText
            label={keys.length > 1 ? `Key ${at + 1}` : 'Key'}
            value={key}
            path={isList ? `${path}.${field}[${at}]` : `${path}.${field}`}
            onChange={(value) => rows.set(at, value)}
          />
          {keys.length > 1 && (
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
        Best as a reference to the environment, <code>$NAME</code>: then it stands in no file. Empty when none is
        needed.
        {keys.length > 1 && ' Several keys take turns; one that is limited or refused rests for a while.'}
      </p>
      {keys.some(isLiteralKey) && (
        <Notice kind="warn" title="A key is written out">
          It will stand in config.json and its backups, readable for whoever reads those. Put it into an environment
          variable of the gateway, and write <code>$NAME</code> here.
        </Notice>
      )}
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
    // A reference is no secret; all else is hidden from its first character on.
    type={isReferenceSoFar(value) ? 'text' : 'password'}
    autoComplete="off"
    {...useField(path)}
    value={value}
    onChange={onChange}
  />
);
