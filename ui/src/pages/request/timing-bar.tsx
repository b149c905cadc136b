import type { Capture } from '../../api/requests/requests.ts';
import { duration } from '../../format/figures.ts';

/** What took time, and on whose account. */
interface TimePart {
  readonly title: string;
  readonly whose: 'ours' | 'theirs' | 'stream' | 'tools';
  readonly ms: number;
}

/** What happens before each mark. */
const spans: Readonly<Record<string, Omit<TimePart, 'ms'>>> = {
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

/** Parts beside each other, to the scale of `wholeMs`, after a free space of `beforeMs`. */
export const TimeTrack = ({
  parts,
  wholeMs,
  beforeMs = 0,
}: {
  readonly parts: readonly TimePart[];
  readonly wholeMs: number;
  readonly beforeMs?: number;
}) => {
  const label = parts.map(({ title, ms }) => `${title} ${duration(ms)}`).join(', ');
  const width = (ms: number): string => `${(ms / Math.max(wholeMs, 0.001)) * 100}%`;
  return (
    <span className="timing-track" role="img" aria-label={label} title={label}>
      <span className="timing-before" style={{ width: width(beforeMs) }} />
      {parts.map(
        ({ title, ms, whose }) =>
          ms > 0 && <span key={title} className={`timing-bar timing-${whose}`} style={{ width: width(ms) }} />,
      )}
    </span>
  );
};

/** What each part took, as the legend of tracks. */
export const TimeParts = ({ parts }: { readonly parts: readonly TimePart[] }) => (
  <ul className="bare timing">
    {parts.map(({ title, ms, whose }) => (
      <li key={title}>
        <span className={`timing-key timing-${whose}`} aria-hidden="true" />
        <span>{title}</span>
        <span className="number">{duration(ms)}</span>
      </li>
    ))}
  </ul>
);

/** Where the time of a request went. */
export const TimingBar = ({ timing }: { readonly timing: Capture['timing'] }) => {
  const has = (mark: string): boolean => timing.some(({ name }) => name === mark);
  const failed = has('upstreamHead') ? undefined : has('called') ? unanswered : refused;
  const parts = timing.slice(1).map(({ name, atMs }, index) => ({
    ms: Math.max(0, atMs - (timing[index]?.atMs ?? 0)),
    ...((name === 'firstByte' ? failed : undefined) ?? spans[name] ?? ({ title: name, whose: 'ours' } as const)),
  }));
  return (
    <section className="stack-tight" aria-label="Timing">
      <TimeTrack parts={parts} wholeMs={timing.at(-1)?.atMs ?? 0} />
      <TimeParts parts={parts} />
    </section>
  );
};
