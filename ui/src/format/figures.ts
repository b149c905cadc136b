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

/** A duration in milliseconds, short: `0.42 ms`, `38 ms`, `1.25 s`, `2 min 05 s`. */
export const duration = (ms: number): string => {
  if (ms === 0) return '0 ms';
  if (ms < 0.995) return `${ms.toFixed(2)} ms`;
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.round((minutes % 1_440) / 60)} h`;
};

const pad = (value: number): string => String(value).padStart(2, '0');

const dollars = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
});
const cents = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });

/** Billionths of a USD below which a cost has no figures. */
const least = 1e5;

/** A cost in billionths of a USD: `<$0.0001`, `$0.0298`, `$1,234.50`. */
export const usd = (nanoDollars: number): string => {
  if (nanoDollars > 0 && nanoDollars < least) return `<${dollars.format(least / 1e9)}`;
  return (nanoDollars < 1e9 ? dollars : cents).format(nanoDollars / 1e9);
};

/** `12.3K (10K) → 400`: input, of which cached, and output. Absent counts are 0. */
export const tokens = ({
  input = 0,
  cacheRead = 0,
  cacheWrite = 0,
  output = 0,
}: {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}): string => {
  const cached = cacheRead > 0 ? ` (${shortCount(cacheRead)})` : '';
  return `${shortCount(input + cacheRead + cacheWrite)}${cached} → ${shortCount(output)}`;
};

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size, short: `512 B`, `1.4 MiB`. */
export const bytes = (size: number): string => {
  const power = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(size) / 10));
  const value = size / 1024 ** power;
  return `${power === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
};

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** A time in a list: of today `14:03:59`, else `3 Mar, 14:03`. Takes milliseconds since 1970. */
export const listTime = (at: number): string => {
  const time = new Date(at);
  return time.toDateString() === new Date().toDateString() ? clock.format(time) : day.format(time);
};

/** The time of day: `14:03:59`. Takes milliseconds since 1970, or ISO 8601. */
export const timeOfDay = (at: number | string): string => clock.format(new Date(at));

/** Day and time: `3 Mar 2026, 14:03:59`. */
export const dayAndTime = (at: number | string): string => full.format(new Date(at));

/** Turns a message that follows a path into a sentence. */
export const sentence = (message: string): string => {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
