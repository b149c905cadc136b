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
