import type { Capture } from '../../api/requests/requests.ts';
import { duration } from '../../format/duration.ts';

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

/** Where the time of a request went: one stacked bar, with what each part took. */
export const TimingBar = ({ timing }: { readonly timing: Capture['timing'] }) => {
  const whole = Math.max(timing.at(-1)?.atMs ?? 0, 0.001);
  const has = (mark: string): boolean => timing.some(({ name }) => name === mark);
  const failed = has('upstreamHead') ? undefined : has('called') ? unanswered : refused;
  const parts = timing.slice(1).map(({ name, atMs }, index) => ({
    name,
    ms: Math.max(0, atMs - (timing[index]?.atMs ?? 0)),
    ...((name === 'firstByte' ? failed : undefined) ?? spans[name] ?? ({ title: name, whose: 'ours' } as const)),
  }));
  return (
    <section className="stack-tight" aria-label="Timing">
      <div className="timing-track" aria-hidden="true">
        {parts.map(({ name, ms, whose }) => (
          <span key={name} className={`timing-bar timing-${whose}`} style={{ width: `${(ms / whole) * 100}%` }} />
        ))}
      </div>
      <ul className="bare timing">
        {parts.map(({ name, ms, title, whose }) => (
          <li key={name}>
            <span className={`timing-key timing-${whose}`} aria-hidden="true" />
            <span>{title}</span>
            <span className="number">{duration(ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
};
