import { useEffect, useRef, useState } from 'react';
import { isAbort, wordError } from '../../api/api-error.ts';
import { failure } from '../../api/call.ts';
import { type Protocol, protocols, protocolTitles } from '../../api/protocols.ts';
import { readText } from '../../api/read-text.ts';
import { type Capture, type RequestSummary, replayRequest } from '../../api/requests/requests.ts';
import { bytes, duration } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { CheckField, SelectField } from '../../parts/controls/field.tsx';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { StatusBadge } from '../../parts/text/status-badge.tsx';

interface Played {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** Milliseconds since the replay was requested. */
  readonly firstMs: number | undefined;
  readonly endMs: number | undefined;
}

type Speed = '0' | '1' | '10';

/** Replays the recorded response through the current stages, for a client of any protocol. No provider is called. */
export const ReplayView = ({ summary, capture }: { readonly summary: RequestSummary; readonly capture: Capture }) => {
  const [client, setClient] = useState<Protocol>(summary.protocol);
  const [speed, setSpeed] = useState<Speed>('1');
  const [stream, setStream] = useState(summary.stream);
  const [played, setPlayed] = useState<Played>();
  const [error, setError] = useState<string>();
  const [running, setRunning] = useState<AbortController>();
  const current = useRef(running);
  current.current = running;
  useEffect(() => () => current.current?.abort(), []);

  const play = async (): Promise<void> => {
    const leaving = new AbortController();
    setRunning(leaving);
    setError(undefined);
    setPlayed(undefined);
    try {
      await replay(summary.id, { client, speed: Number(speed), stream }, leaving.signal, setPlayed);
    } catch (failed) {
      if (!isAbort(failed)) setError(wordError(failed));
    }
    setRunning(undefined);
  };

  return (
    <Panel
      title="Replay"
      about="Runs the recorded provider response through the current stages again, for any client protocol. No provider is called."
    >
      {capture.upstream === null && <Notice>No provider was called, so there is nothing to replay.</Notice>}
      <div className="row replay-controls">
        <SelectField
          label="Client protocol"
          value={client}
          options={protocols.map((value) => ({ value, label: protocolTitles[value] }))}
          onChange={setClient}
        />
        <Segmented
          label="Speed"
          value={speed}
          onChange={setSpeed}
          options={[
            { value: '1', label: 'As recorded' },
            { value: '10', label: '10× faster' },
            { value: '0', label: 'Instant' },
          ]}
        />
        <CheckField label="Stream" checked={stream} onChange={setStream} />
        {running ? (
          <Button icon="stop" onClick={() => running.abort()}>
            Stop
          </Button>
        ) : (
          <Button look="primary" icon="play" disabled={capture.upstream === null} onClick={() => void play()}>
            Replay
          </Button>
        )}
      </div>
      {error && <Notice kind="failed">{error}</Notice>}
      {played && (
        <>
          <p className="row" role="status">
            <StatusBadge status={played.status} />
            <span>{played.type}</span>
            <span className="soft">
              {bytes(played.text.length)}
              {played.firstMs !== undefined && `, first byte after ${duration(played.firstMs)}`}
              {played.endMs !== undefined && `, complete after ${duration(played.endMs)}`}
            </span>
          </p>
          <CodeBlock wrap label="Replayed response" text={played.text} />
        </>
      )}
    </Panel>
  );
};

/** The rendering interval while text arrives, in milliseconds. */
const drawEveryMs = 50;

const replay = async (
  id: string,
  options: Parameters<typeof replayRequest>[1],
  signal: AbortSignal,
  show: (played: Played) => void,
): Promise<void> => {
  const sentAtMs = performance.now();
  const response = await replayRequest(id, options, signal);
  if (!response.headers.has('x-junctor-replay')) throw await failure(response);
  const pieces: string[] = [];
  let firstMs: number | undefined;
  let drawnMs = 0;
  const draw = (endMs?: number): void =>
    show({
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: pieces.join(''),
      firstMs,
      endMs,
    });
  if (response.body) {
    await readText(response.body, sentAtMs, ({ atMs, text }) => {
      pieces.push(text);
      firstMs ??= atMs;
      if (atMs - drawnMs < drawEveryMs) return;
      drawnMs = atMs;
      draw();
    });
  }
  draw(performance.now() - sentAtMs);
};
