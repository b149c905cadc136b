/** A client's limit per minute, as shown in its responses. */
export interface RateLimit {
  readonly of: 'requests' | 'tokens';
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until all of it is available again, if nothing more is used. */
  readonly resetMs: number;
  /** The same as a time, in milliseconds since 1970. */
  readonly resetAtMs: number;
}

/** The headers of most vendors: `x-ratelimit-limit-requests` and so on. Source: OpenAI API reference, "Rate limits". */
export const rateLimitHeaders = (rates: readonly RateLimit[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    rates.flatMap(({ of, limit, remaining, resetMs }) => [
      [`x-ratelimit-limit-${of}`, String(limit)],
      [`x-ratelimit-remaining-${of}`, String(remaining)],
      [`x-ratelimit-reset-${of}`, duration(resetMs)],
    ]),
  );

/** `12ms`, `1s`, `6m0s`. */
const duration = (ms: number): string => {
  if (ms > 0 && ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
};

/**
 * The headers about limits whose values are numbers, durations, dates or known words. Others could be anything, such as a key that an
 * upstream repeats.
 */
export const plainLimits = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => isPlainLimit(value) || isState(name, value)));

/**
 * The states of a subscription's limits: words, or lists of them, of which new ones appear. Source: Anthropic API,
 * `anthropic-ratelimit-unified-*`.
 */
const isState = (name: string, value: string): boolean =>
  name.includes('-ratelimit-unified-') && value.length <= maxStateChars && stateForm.test(value);

const maxStateChars = 128;
const stateForm =
  /^[a-z]{1,24}(?:_(?:[a-z]{1,24}|\d{1,3}[a-z]?)){0,7}(?:, ?[a-z]{1,24}(?:_(?:[a-z]{1,24}|\d{1,3}[a-z]?)){0,7})*$/;

const isPlainLimit = (value: string): boolean =>
  value.length <= maxValueChars && (limitWords.has(value) || limitForms.some((form) => form.test(value)));

/** The longest date has 40 characters. */
const maxValueChars = 40;

/** Sources: OpenAI API reference, "Rate limits" (`6m0s`); RFC 3339; RFC 9110, "HTTP-date". */
const limitForms = [
  /^-?\d+(?:\.\d+)?$/,
  /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
];

/** Whether to retry, and the states of a subscription's limits. Source: Anthropic API, `x-should-retry`, `anthropic-ratelimit-unified-*`. */
const limitWords: ReadonlySet<string> = new Set([
  'true',
  'false',
  'allowed',
  'allowed_warning',
  'rejected',
  'available',
  'five_hour',
  'seven_day',
  'seven_day_opus',
  'seven_day_sonnet',
  'overage',
  'org_level_disabled',
  'out_of_credits',
]);
