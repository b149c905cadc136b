import type { Capture } from '../../api/requests/requests.ts';
import { duration } from '../../format/duration.ts';
import { Panel } from '../../parts/layout/panel.tsx';

/** What happens before each mark, and on whose time. */
const spans: Readonly<Record<string, { readonly title: string; readonly whose: 'ours' | 'theirs' | 'stream' }>> = {
  decoded: { title: 'Decode the request', whose: 'ours' },
  routed: { title: 'Route', whose: 'ours' },
  encoded: { title: 'Run stages, encode', whose: 'ours' },
  called: { title: 'Send the request', whose: 'ours' },
  retried: { title: 'Earlier attempts, and waits', whose: 'theirs' },
  upstreamHead: { title: 'Wait for the provider', whose: 'theirs' },
  firstChunk: { title: 'Wait for the first bytes', whose: 'theirs' },
  firstByte: { title: 'Convert the first bytes', whose: 'ours' },
  end: { title: 'Stream the response', whose: 'stream' },
};

/** What the first byte of the gateway's own error waits for. */
const refused = { title: 'Return the error', whose: 'ours' } as const;
const unanswered = { title: 'Wait for the provider: no answer', whose: 'theirs' } as const;

/** The timeline of a request: one bar per step. */
export const TimingPanel = ({ timing }: { readonly timing: Capture['timing'] }) => {
  const whole = Math.max(timing.at(-1)?.atMs ?? 0, 0.001);
  const has = (mark: string): boolean => timing.some(({ name }) => name === mark);
  const failed = has('upstreamHead') ? undefined : has('called') ? unanswered : refused;
  return (
    <Panel title="Timing" about={`${duration(whole)} total`}>
      <ol className="timing">
        {timing.slice(1).map(({ name, atMs }, index) => {
          const fromMs = timing[index]?.atMs ?? 0;
          const { title, whose } =
            (name === 'firstByte' ? failed : undefined) ?? spans[name] ?? ({ title: name, whose: 'ours' } as const);
          return (
            <li key={name}>
              <span>{title}</span>
              <span className="timing-track" aria-hidden="true">
                <span
                  className={`timing-bar timing-${whose}`}
                  style={{
                    insetInlineStart: `${(fromMs / whole) * 100}%`,
                    width: `${((atMs - fromMs) / whole) * 100}%`,
                  }}
                />
              </span>
              <span className="number">{duration(Math.max(0, atMs - fromMs))}</span>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
};
