import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import type { Label } from './drawing-parts.ts';
import type { Traffic } from './lines.ts';

/** Requests per second. */
export const rateLabel = ({ perSecond }: Traffic): Label => ({
  text: `${rate(perSecond)}/s`,
  about: `${rate(perSecond)} requests per second`,
});

/** The median duration; empty before the first request. */
export const durationLabels = ({ durationMs }: Traffic): readonly Label[] =>
  durationMs === undefined ? [] : [{ text: duration(durationMs), about: `median duration ${duration(durationMs)}` }];

/** The median time to first byte. */
export const firstByteLabels = ({ firstByteMs }: Traffic): readonly Label[] =>
  firstByteMs === undefined
    ? []
    : [{ text: duration(firstByteMs), about: `median time to first byte ${duration(firstByteMs)}` }];

/** Failed requests and losses, if there are any. */
export const troubleLabels = ({ errors, losses }: Traffic): readonly Label[] => [
  ...(errors > 0
    ? [{ text: `${count(errors)} failed`, about: `${count(errors)} requests failed`, tone: 'bad' } as const]
    : []),
  ...(losses > 0
    ? [{ text: `${count(losses)} lost`, about: `${count(losses)} fields lost in conversion`, tone: 'warn' } as const]
    : []),
];
