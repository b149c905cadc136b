import { protocolTitles } from '../../api/protocols.ts';
import { hasFailed, type RequestSummary } from '../../api/requests/summary.ts';
import { Dot, type Tone } from '../../parts/text/badge.tsx';

interface Stop {
  readonly text: string;
  readonly title?: string | undefined;
  /** How the attempt ended. */
  readonly tone?: Tone;
  readonly outcome?: string;
}

/** The way of a request in one line: protocol, rule, and each attempt with how it ended. */
export const PathLine = ({ summary }: { readonly summary: RequestSummary }) => (
  <ol className="bare path-line" aria-label="Path">
    {stopsOf(summary).map(({ text, title, tone, outcome }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the same call may be made twice; the list never changes
      <li key={index} title={title}>
        {tone && <Dot tone={tone} />}
        <span className="path-stop">{text}</span>
        {outcome && <span className={tone === 'ok' ? 'soft' : 'path-failed'}>{outcome}</span>}
      </li>
    ))}
  </ol>
);

const stopsOf = (summary: RequestSummary): readonly Stop[] => {
  const { protocol, preset, scenario, reason, pool, provider, model, status, failedAttempts = [] } = summary;
  const failed = hasFailed(summary);
  const stops: readonly Stop[] = [
    { text: protocolTitles[protocol], title: summary.path },
    ...(preset === undefined ? [] : [{ text: `preset ${preset}` }]),
    { text: scenario ?? 'no rule', title: reason },
    ...(pool === undefined ? [] : [{ text: `pool ${pool}` }]),
    ...failedAttempts.map(
      (attempt): Stop => ({
        text: attempt.provider,
        title: attempt.model,
        tone: 'bad',
        outcome: `✗ ${attempt.outcome}`,
      }),
    ),
    ...(provider === undefined
      ? []
      : [
          {
            text: provider,
            title: model,
            tone: failed ? 'bad' : status === 499 ? 'plain' : 'ok',
            outcome: failed ? `✗ ${status < 400 ? 'broke off' : status}` : status === 499 ? 'client left' : '✓',
          } as const,
        ]),
  ];
  return stops.filter((stop, at) => !isSame(stop, stops[at - 1])).map((stop) => withTimes(stop, stops));
};

const isSame = (one: Stop, other: Stop | undefined): boolean =>
  one.tone !== undefined && one.text === other?.text && one.title === other.title && one.outcome === other.outcome;

/** Attempts of the same kind in a row are one, with their number. */
const withTimes = (stop: Stop, stops: readonly Stop[]): Stop => {
  const first = stops.indexOf(stop);
  const end = stops.findIndex((other, at) => at > first && !isSame(other, stop));
  const times = (end < 0 ? stops.length : end) - first;
  return times > 1 ? { ...stop, outcome: `${stop.outcome ?? ''} ×${times}` } : stop;
};
