import type { ReactNode } from 'react';
import { count } from '../../../format/count.ts';
import { duration } from '../../../format/duration.ts';
import { StatusBadge } from '../../../parts/text/status-badge.tsx';
import { href } from '../../../router/route.ts';
import type { AnswerUsage } from '../../../stream/answer.ts';
import type { Run } from './run.ts';

/** The figures of a run. All are shown from the start, so that the layout doesn't shift. */
export const RunTiming = ({ run }: { readonly run: Run }) => {
  const { status, headers, firstByteMs, firstDeltaMs, endMs, answer } = run;
  const id = headers.find(([name]) => name === 'x-request-id')?.[1];
  return (
    <dl className="run-figures">
      <Figure title="Status">{status === undefined ? '–' : <StatusBadge status={status} />}</Figure>
      <Figure title="First byte">{time(firstByteMs)}</Figure>
      <Figure title="First token">{time(firstDeltaMs)}</Figure>
      <Figure title="Total">{time(endMs)}</Figure>
      <Figure title="Chunks per second">{pace(run)}</Figure>
      <Figure title="Tokens">{tokens(answer.usage)}</Figure>
      <Figure title="Finish reason">{answer.finish ?? '–'}</Figure>
      <Figure title="Trace">{id === undefined ? '–' : <a href={href('/requests', id)}>View request</a>}</Figure>
    </dl>
  );
};

const Figure = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

const time = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));

const pace = ({ firstDeltaMs = 0, lastDeltaMs = 0, answer: { deltas } }: Run): string =>
  lastDeltaMs > firstDeltaMs ? count(((deltas - 1) * 1000) / (lastDeltaMs - firstDeltaMs)) : '–';

const tokens = ({ input, output, cacheRead, cacheWrite, reasoning }: AnswerUsage): string => {
  const told = [
    [input, 'in'],
    [output, 'out'],
    [cacheRead, 'cache read'],
    [cacheWrite, 'cache write'],
    [reasoning, 'reasoning'],
  ] as const;
  const words = told.flatMap(([value, what], at) =>
    value === undefined || (at > 1 && value === 0) ? [] : [`${count(value)} ${what}`],
  );
  return words.join(', ') || '–';
};
