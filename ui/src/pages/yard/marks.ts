import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import type { Mark } from './drawing-parts.ts';
import type { Traffic } from './lines.ts';

/** Requests per second. */
export const rateMark = ({ perSecond }: Traffic): Mark => ({
  text: `${rate(perSecond)}/s`,
  about: `${rate(perSecond)} requests per second`,
});

/** The median duration; empty before the first request. */
export const durationMarks = ({ durationMs }: Traffic): readonly Mark[] =>
  durationMs === undefined ? [] : [{ text: duration(durationMs), about: `median duration ${duration(durationMs)}` }];

/** The median time to first byte. */
export const firstByteMarks = ({ firstByteMs }: Traffic): readonly Mark[] =>
  firstByteMs === undefined
    ? []
    : [{ text: duration(firstByteMs), about: `median time to first byte ${duration(firstByteMs)}` }];

/** Failed requests and losses, if there are any. */
export const troubleMarks = ({ errors, losses }: Traffic): readonly Mark[] => [
  ...(errors > 0
    ? [{ text: `${count(errors)} failed`, about: `${count(errors)} requests failed`, tone: 'bad' } as const]
    : []),
  ...(losses > 0
    ? [{ text: `${count(losses)} lost`, about: `${count(losses)} fields lost in conversion`, tone: 'warn' } as const]
    : []),
];
