const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A whole number with thousands separators: `12,345`. */
export const count = (value: number): string => whole.format(value);

/** A compact number: `12.3K`. */
export const shortCount = (value: number): string => (value < 1_000 ? whole.format(value) : short.format(value));

/** `1 request`, `2 requests`; `many` is an irregular plural. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A rate per second: `0`, `0.3`, `12`. */
export const rate = (perSecond: number): string =>
  perSecond === 0 ? '0' : perSecond < 9.95 ? perSecond.toFixed(1) : whole.format(perSecond);
