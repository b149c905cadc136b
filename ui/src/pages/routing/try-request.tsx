import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { type Explanation, explain } from '../../api/config/explain.ts';
import { parseObject } from '../../api/json.ts';
import { type Protocol, protocols, shortProtocolTitles } from '../../api/protocols.ts';
import { destinationsOf } from '../../config/destinations.ts';
import { useForm } from '../../config/fields/form.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SelectField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ExplanationSteps } from './explanation-steps.tsx';
import { type Sample, sampleBody, samples } from './samples.ts';

/** Shows how a request would be routed and converted. Nothing is sent to a provider. */
export const TryRequest = ({
  about = 'Shows step by step how a request would be handled. Nothing is sent to a provider.',
}: {
  readonly about?: string;
}) => {
  const { config, saved, dirty, inherited } = useForm();
  const [destination = { value: 'provider,model' }] = destinationsOf(saved);
  const textOf = (client: Protocol, name: Sample['name']): string =>
    JSON.stringify(sampleBody(client, name, destination.value), null, 2);
  const [protocol, setProtocol] = useState<Protocol>('messages');
  const [sample, setSample] = useState<Sample['name']>('plain');
  const [text, setText] = useState(() => textOf(protocol, sample));
  const [result, setResult] = useState<{ readonly explanation?: Explanation; readonly error?: string }>({});
  const [busy, setBusy] = useState(false);
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const take = (client: Protocol, name: Sample['name']): void => {
    setProtocol(client);
    setSample(name);
    setText(textOf(client, name));
    setResult({});
  };
  const ask = async (): Promise<void> => {
    const body = parseObject(text);
    if (!body) {
      setResult({ error: 'The body is not a valid JSON object yet. The editor marks the error.' });
      return;
    }
    leaving.current?.abort();
    const own = new AbortController();
    leaving.current = own;
    setBusy(true);
    try {
      setResult({
        explanation: await explain({ client: protocol, body, ...(dirty && { configuration: config }) }, own.signal),
      });
    } catch (error) {
      if (isAbort(error)) return;
      setResult({ error: wordError(error) });
    }
    setBusy(false);
  };
  return (
    <Panel title="Dry run" about={about}>
      {dirty && !inherited && <Notice>The dry run includes what is not saved yet.</Notice>}
      <div className="row try-controls">
        <Segmented
          label="Client protocol"
          value={protocol}
          options={protocols.map((value) => ({ value, label: shortProtocolTitles[value] }))}
          onChange={(value) => take(value, sample)}
        />
        <SelectField
          label="Sample"
          unlabelled
          value={sample}
          options={samples.map(({ name, title }) => ({ value: name, label: title }))}
          onChange={(value) => take(protocol, value)}
        />
        <Button icon="play" busy={busy} onClick={() => void ask()}>
          Explain
        </Button>
      </div>
      <JsonEditor label="Request body" value={text} onChange={setText} maxLines={14} />
      <div aria-live="polite">
        {result.error !== undefined && (
          <Notice kind="failed" title="This request would be rejected">
            {result.error}
          </Notice>
        )}
        {result.explanation && <ExplanationSteps explanation={result.explanation} />}
      </div>
    </Panel>
  );
};
