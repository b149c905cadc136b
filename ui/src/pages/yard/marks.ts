import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import type { Mark } from './drawing-parts.ts';
import type { Traffic } from './lines.ts';

/** Requests per second. */
export const rateMark = ({ perSecond }: Traffic): Mark => ({
  text: `${rate(perSecond)}/s`,
  about: `${rate(perSecond)} requests per second`,
});

/** The median of how long requests take; nothing before the first one. */
export const durationMarks = ({ durationMs }: Traffic): readonly Mark[] =>
  durationMs === undefined
    ? []
    : [{ text: duration(durationMs), about: `half took less than ${duration(durationMs)}` }];

/** The median of how long the first byte takes. */
export const firstByteMarks = ({ firstByteMs }: Traffic): readonly Mark[] =>
  firstByteMs === undefined
    ? []
    : [{ text: duration(firstByteMs), about: `half began in less than ${duration(firstByteMs)}` }];

/** Failed requests and losses, where there are any. */
export const troubleMarks = ({ errors, losses }: Traffic): readonly Mark[] => [
  ...(errors > 0
    ? [{ text: `${count(errors)} failed`, about: `${count(errors)} requests failed`, tone: 'bad' } as const]
    : []),
  ...(losses > 0
    ? [{ text: `${count(losses)} lost`, about: `${count(losses)} fields could not be carried`, tone: 'warn' } as const]
    : []),
];
