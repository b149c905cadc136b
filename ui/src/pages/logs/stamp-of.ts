import type { Json } from '../../api/json.ts';

const stamp = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** A record's time of day, to the millisecond; empty if it isn't a time. */
export const stampOf = (time: Json | undefined): string =>
  typeof time === 'number' && Math.abs(time) <= 8.64e15 ? stamp.format(time) : '';
