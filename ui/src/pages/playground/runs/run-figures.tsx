import { count, duration, shortCount, usd } from '../../../format/figures.ts';
import { href } from '../../../router/route.ts';
import type { Run } from './run.ts';

const nanoPerUsd = 1e9;

/** Who answered, and the figures of a run that count most, in one line. */
export const RunFigures = ({ run: { headers, endMs, answer, costUsd } }: { readonly run: Run }) => {
  const header = (wanted: string): string | undefined => headers.find(([name]) => name === wanted)?.[1];
  const id = header('x-request-id');
  const { input, output } = answer.usage;
  const figures = [
    header('x-junctor-route')?.split(';')[0],
    endMs !== undefined && duration(endMs),
    input !== undefined && `${shortCount(input)} in`,
    output !== undefined && `${shortCount(output)} out`,
    costUsd !== undefined && usd(costUsd * nanoPerUsd),
  ];
  return (
    <p className="run-figures soft small">
      <span className="cut">{figures.filter(Boolean).join(' · ')}</span>
      {id !== undefined && <a href={href('/requests', id)}>View request</a>}
    </p>
  );
};

/** All figures that are known of a run. */
export const allFigures = (run: Run): readonly (readonly [title: string, value: string])[] => {
  const { status, firstByteMs, firstDeltaMs, lastDeltaMs = 0, endMs, answer } = run;
  const streamedMs = lastDeltaMs - (firstDeltaMs ?? lastDeltaMs);
  const { input, output, cacheRead, cacheWrite, reasoning } = answer.usage;
  const figures = [
    ['status', status, String],
    ['first byte', firstByteMs, duration],
    ['first token', firstDeltaMs, duration],
    ['total', endMs, duration],
    ['chunks a second', streamedMs > 0 ? ((answer.deltas - 1) * 1_000) / streamedMs : undefined, count],
    ['input tokens', input, count],
    ['output tokens', output, count],
    ['cache read', cacheRead || undefined, count],
    ['cache write', cacheWrite || undefined, count],
    ['reasoning', reasoning || undefined, count],
  ] as const;
  const known = figures.flatMap(([title, value, format]) =>
    value === undefined ? [] : [[title, format(value)] as const],
  );
  return answer.finish === undefined ? known : [...known, ['ended by', answer.finish]];
};
