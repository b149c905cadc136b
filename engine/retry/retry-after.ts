import type { Headers } from '../model/protocol.ts';

/**
 * How long an upstream asks to be left alone, in milliseconds; `undefined` when it doesn't say. `nowMs` counts from 1970.
 * Source: RFC 9110, section 10.2.3 (seconds, or a date); the SDKs of both large vendors (`retry-after-ms`).
 */
export const retryAfterMs = (headers: Headers | undefined, nowMs: number): number | undefined => {
  const exact = headers?.['retry-after-ms']?.trim();
  if (exact !== undefined && decimal.test(exact)) return Number(exact);
  const text = headers?.['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (decimal.test(text)) return Number(text) * 1000;
  const at = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
};

/** All its forms begin with the day of the week; the platform would take nearly any text for some date. */
const httpDate = /^[A-Z][a-z]{2,8},? /;
const decimal = /^\d+(?:\.\d+)?$/;
