import type { ProviderFile } from '../../api/config/config.ts';
import { useField } from '../../config/fields/form.ts';
import { Button, IconButton } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { useRows } from '../../state/use-rows.ts';

/** A provider's further base URLs. */
export const BaseUrlsField = ({
  provider,
  path,
  onChange,
}: {
  readonly provider: ProviderFile;
  readonly path: string;
  /** Gets `undefined` for none. */
  readonly onChange: (urls: readonly string[] | undefined) => void;
}) => {
  const { otherBaseUrls: urls = [] } = provider;
  const rows = useRows(urls, (next) => onChange(next.length > 0 ? next : undefined));
  return (
    <fieldset className="keys">
      {urls.length > 0 && <legend className="field-label">Further base URLs</legend>}
      {urls.map((url, at) => (
        <div key={rows.keys[at]} className="key-row">
          <UrlText
            value={url}
            at={at}
            path={`${path}.otherBaseUrls[${at}]`}
            onChange={(value) => rows.set(at, value)}
          />
          <IconButton icon="remove" label={`Remove base URL ${at + 2}`} onClick={() => rows.remove(at)} />
        </div>
      ))}
      {urls.length > 0 && (
        <p className="field-hint">Each takes requests while those before it fail. Format and keys are the same.</p>
      )}
      <div className="row">
        <Button look="quiet" icon="add" onClick={() => rows.add('')}>
          Add a base URL
        </Button>
      </div>
    </fieldset>
  );
};

const UrlText = ({
  value,
  at,
  path,
  onChange,
}: {
  readonly value: string;
  readonly at: number;
  readonly path: string;
  readonly onChange: (value: string) => void;
}) => (
  <TextField
    label={`Base URL ${at + 2}`}
    inputMode="url"
    placeholder="https://"
    {...useField(path)}
    value={value}
    onChange={onChange}
  />
);
