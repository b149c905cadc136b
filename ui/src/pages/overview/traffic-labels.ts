import { count, rate } from '../../format/count.ts';
import { duration } from '../../format/duration.ts';
import type { Label, TimeShare, Track } from './drawing/drawing-parts.ts';
import { type Traffic, toneOf } from './lines.ts';

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

/** How wide a track is, and its health: each tenfold of requests is 2.5 px more. */
export const weightOf = (traffic: Traffic): Pick<Track, 'width' | 'tone'> => ({
  width: Math.min(14, 3 + 2.5 * Math.log10(1 + traffic.perSecond)),
  tone: toneOf(traffic),
});

/** Where the time of a request goes, by the medians; empty before the first request. */
export const timesOf = ({ overheadMs = 0, firstByteMs = 0, durationMs = 0 }: Traffic): readonly TimeShare[] => {
  if (durationMs <= 0) return [];
  const gateway = Math.min(overheadMs, durationMs);
  const wait = Math.max(0, Math.min(firstByteMs, durationMs) - gateway);
  const stream = durationMs - gateway - wait;
  return [
    { part: 'gateway', share: gateway / durationMs, about: `${duration(gateway)} in the gateway` },
    { part: 'wait', share: wait / durationMs, about: `${duration(wait)} until the first byte` },
    { part: 'stream', share: stream / durationMs, about: `${duration(stream)} for the rest` },
  ];
};
