import { FaultError } from '../model/fault.ts';

/** The fault of bytes that aren't valid in their encoding. */
export const garbled = (coding: string, cause: unknown): FaultError =>
  new FaultError({ kind: 'upstream-garbled', message: `The upstream's answer is not valid ${coding}.` }, { cause });

/** The fault of a compressed body beyond its limit. */
export const tooMuch = (maxBytes: number): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `The upstream's compressed answer is larger than ${maxBytes} bytes. LIMITS.decompressedReplyBytes in the configuration sets the limit.`,
  });
