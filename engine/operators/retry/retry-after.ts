import type { Fault } from '../../model/fault.ts';
import type { Headers } from '../../model/protocol.ts';

/**
 * How long an upstream asks to wait, in milliseconds; `undefined` if it doesn't say. `nowMs` counts from 1970.
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

/** All forms of an HTTP date begin with the weekday; `Date.parse` alone accepts nearly any text. */
const httpDate = /^[A-Z][a-z]{2,8},? /;
const decimal = /^\d+(?:\.\d+)?$/;

/** A fault in one word: the gateway's own code if it has one, else the status, else the kind. */
export const outcomeOf = ({ kind, status, code }: Fault): string => {
  if (kind === 'unavailable' && code !== undefined) return code;
  return status === undefined ? reasonOf(kind) : String(status);
};

/** A fault's kind without the common prefix; a short closed list, fit for a metric's label. */
export const reasonOf = (kind: Fault['kind']): string => kind.replace(/^upstream-/, '');
