import { useEffect, useRef, useState } from 'react';
import type { ClientGuide } from '../../api/guides.ts';
import { duration } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Lamp } from '../../parts/text/badge.tsx';
import { type CheckStep, checkClient } from './check-client.ts';

/** Makes the client's own calls from this page. */
export const Check = ({
  guide,
  base,
  model,
}: {
  readonly guide: ClientGuide;
  /** The gateway's address, with that of a preset. */
  readonly base: string;
  readonly model: string;
}) => {
  const [steps, setSteps] = useState<readonly CheckStep[]>([]);
  const [busy, setBusy] = useState(false);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const own = new AbortController();
    leaving.current = own;
    return () => own.abort();
  }, []);
  const check = async (): Promise<void> => {
    const { signal } = leaving.current;
    setBusy(true);
    await checkClient(guide, new URL(base).pathname.replace(/\/$/, ''), model, signal, setSteps);
    if (!signal.aborted) setBusy(false);
  };
  return (
    <section className="stack-tight" aria-label="Connection check">
      <div className="row">
        <Button icon="play" busy={busy} disabled={model === ''} onClick={() => void check()}>
          Run check
        </Button>
        <span className="soft small">
          Makes the calls that {guide.title} would make. The last one costs a few tokens.
        </span>
      </div>
      {steps.length > 0 && (
        <ol className="check-steps" aria-label="Check results" aria-live="polite">
          {steps.map(({ call, state, status, ms, says }) => (
            <li key={call}>
              <Lamp tone={tones[state]} pulse={state === 'waiting' && busy}>
                <code>{call}</code>
              </Lamp>
              <span className="soft">
                {status}
                {ms !== undefined && ` in ${duration(ms)}`}
              </span>
              <span className={state === 'failed' ? 'field-error' : undefined}>{says}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
};

const tones = { waiting: 'plain', done: 'ok', failed: 'bad' } as const;
