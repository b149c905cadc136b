import type { Headers } from '../../engine/model/protocol.ts';
import type { RateLimit } from '../../engine/model/rate-limit.ts';

/**
 * The headers of rate limits, as clients of this protocol read them; the reset is a time in RFC 3339. Source: Anthropic API
 * reference, "Rate limits", "Response headers".
 */
export const limitHeaders = (rates: readonly RateLimit[]): Headers =>
  Object.fromEntries(
    rates.flatMap(({ of, limit, remaining, resetAtMs }) => [
      [`anthropic-ratelimit-${of}-limit`, String(limit)],
      [`anthropic-ratelimit-${of}-remaining`, String(remaining)],
      [`anthropic-ratelimit-${of}-reset`, timeText(resetAtMs)],
    ]),
  );

/** Whole seconds, rounded up, so that no client comes back too early. */
const timeText = (ms: number): string => `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
