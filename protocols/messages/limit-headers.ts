import type { Headers } from '../../engine/model/protocol.ts';
import type { RateLimit } from '../../engine/model/rate-limit.ts';

/**
 * Rate limits as this protocol's response headers. The reset is a time in RFC 3339. Source: Anthropic API reference, "Rate
 * limits", "Response headers".
 */
export const limitHeaders = (rates: readonly RateLimit[]): Headers =>
  Object.fromEntries(
    rates.flatMap(({ of, limit, remaining, resetAtMs }) => [
      [`anthropic-ratelimit-${of}-limit`, String(limit)],
      [`anthropic-ratelimit-${of}-remaining`, String(remaining)],
      [`anthropic-ratelimit-${of}-reset`, timeText(resetAtMs)],
    ]),
  );

/** Whole seconds, rounded up, so that clients don't retry too early. */
const timeText = (ms: number): string => `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
