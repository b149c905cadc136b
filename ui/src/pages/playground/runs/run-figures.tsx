import { count } from '../../../format/count.ts';
import { duration } from '../../../format/duration.ts';
import { href } from '../../../router/route.ts';
import type { AnswerUsage } from '../../../stream/answer.ts';
import type { Run } from './run.ts';

/** The figures of a run, in one line. */
export const RunFigures = ({ run }: { readonly run: Run }) => {
  const { status, headers, firstByteMs, firstDeltaMs, lastDeltaMs = 0, endMs, answer } = run;
  const id = headers.find(([name]) => name === 'x-request-id')?.[1];
  const streamedMs = lastDeltaMs - (firstDeltaMs ?? lastDeltaMs);
  const figures = [
    status !== undefined && `status ${status}`,
    firstByteMs !== undefined && `first byte ${duration(firstByteMs)}`,
    firstDeltaMs !== undefined && `first token ${duration(firstDeltaMs)}`,
    endMs !== undefined && `total ${duration(endMs)}`,
    streamedMs > 0 && `${count(((answer.deltas - 1) * 1_000) / streamedMs)} chunks a second`,
    tokens(answer.usage),
    answer.finish !== undefined && `ended by ${answer.finish}`,
  ].filter((one): one is string => typeof one === 'string' && one !== '');
  return (
    <p className="run-figures soft small">
      {figures.join(' · ')}
      {id !== undefined && (
        <>
          {' · '}
          <a href={href('/requests', id)}>View request</a>
        </>
      )}
    </p>
  );
};

const tokens = ({ input, output, cacheRead, cacheWrite, reasoning }: AnswerUsage): string => {
  const known = [
    [input, 'in'],
    [output, 'out'],
    [cacheRead, 'cache read'],
    [cacheWrite, 'cache write'],
    [reasoning, 'reasoning'],
  ] as const;
  const words = known.flatMap(([value, what], at) =>
    value === undefined || (at > 1 && value === 0) ? [] : [`${count(value)} ${what}`],
  );
  return words.length === 0 ? '' : `tokens ${words.join(', ')}`;
};
