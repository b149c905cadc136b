import type { Json } from '../../api/json.ts';
import { type Protocol, protocolPaths } from '../../api/protocols.ts';
import { Button } from '../../parts/controls/button.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';

/** Edits the request body as JSON; it follows the form until it is edited. */
export const BodyEditor = ({
  protocol,
  written,
  composed,
  onChange,
  onReset,
}: {
  readonly protocol: Protocol;
  /** The edited text. */
  readonly written: string | undefined;
  /** The body made from the form. */
  readonly composed: Json;
  readonly onChange: (text: string) => void;
  /** Returns to the form's body. */
  readonly onReset: () => void;
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
          // The editor also reports changes made from here.
          if (text !== (written ?? made)) onChange(text);
        }}
      />
      {written !== undefined && (
        <div className="row">
          <Button onClick={onReset}>Reset to the form</Button>
        </div>
      )}
    </div>
  );
};
