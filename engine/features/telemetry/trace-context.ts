import { randomHex } from '../../http/headers.ts';

/** The position of a request in a trace. Source: W3C Recommendation "Trace Context", 2021-11-23. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits: the caller's span; `undefined`: the trace begins here. */
  readonly parentId: string | undefined;
  /** Vendors' own data, passed on unchanged. */
  readonly state: string | undefined;
  /** Spans are recorded. */
  readonly isSampled: boolean;
}

/** Parts of a `traceparent`. Later versions may append fields, which are ignored. */
const parentParts = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Characters that any parser must take; longer lists may be dropped. */
const stateText = /^[\x20-\x7e]{1,512}$/;
const zeros = /^0+$/;

/**
 * Reads the client's `traceparent` and `tracestate`. Its decision to sample holds; without a valid one, a trace begins, of which
 * the share `ratio` is sampled. An invalid `tracestate` is dropped.
 */
export const readTraceContext = (
  traceparent: string | undefined,
  tracestate: string | undefined,
  ratio: number,
): TraceContext => {
  const parts = traceparent === undefined ? null : parentParts.exec(traceparent.trim());
  const [, version = '', traceId = '', parentId = '', flags = '', rest] = parts ?? [];
  if (!parts || version === 'ff' || (version === '00' && rest !== undefined) || isZero(traceId) || isZero(parentId)) {
    const begun = newTraceId();
    return { traceId: begun, parentId: undefined, state: undefined, isSampled: isWithin(begun, ratio) };
  }
  const state = tracestate !== undefined && stateText.test(tracestate) ? tracestate : undefined;
  return { traceId, parentId, state, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

/** The headers of a call that belongs to the span `spanId`. */
export const traceHeaders = (
  { traceId, state, isSampled }: TraceContext,
  spanId: string,
): Readonly<Record<string, string>> => {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
};

export const newSpanId = (): string => newId(8);

const newTraceId = (): string => newId(16);

const newId = (bytes: number): string => {
  const id = randomHex(bytes);
  return isZero(id) ? newId(bytes) : id;
};

const isZero = (id: string): boolean => zeros.test(id);

/** Digits of the trace id that decide, the same for all services of a trace: 48 random bits. */
const decidingDigits = 12;

const isWithin = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-decidingDigits), 16) < ratio * 2 ** (4 * decidingDigits);
