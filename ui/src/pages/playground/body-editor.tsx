import type { Json } from '../../api/json.ts';
import { type Protocol, protocolPaths } from '../../api/protocols.ts';
import { Button } from '../../parts/button.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';

/** The whole request as JSON: the form's, until it is changed by hand. */
export const BodyEditor = ({
  protocol,
  written,
  composed,
  onChange,
}: {
  readonly protocol: Protocol;
  /** What was written by hand. */
  readonly written: string | undefined;
  /** What the form makes. */
  readonly composed: Json;
  /** `undefined`: back to the form's. */
  readonly onChange: (text: string | undefined) => void;
}) => {
  const made = JSON.stringify(composed, null, 2);
  return (
    <div className="stack-tight">
      <p className="soft small">
        <code>POST {protocolPaths[protocol]}</code>
      </p>
      <JsonEditor
        label={`Body of the ${protocol} request`}
        value={written ?? made}
        maxLines={24}
        onChange={(text) => {
          // The editor also tells when its text was set from here.
          if (text !== (written ?? made)) onChange(text);
        }}
      />
      {written !== undefined && (
        <div className="row">
          <Button onClick={() => onChange(undefined)}>Back to what the form says</Button>
        </div>
      )}
    </div>
  );
};
