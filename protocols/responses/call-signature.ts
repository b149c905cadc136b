import { isJsonObject, parseJson } from '../../engine/model/json.ts';
import { packSignature, type Signature, unpackSignature } from '../../engine/model/signature.ts';

const format = 'tool-call';

/** A signature that belongs to one tool call. */
export interface CallSignature {
  readonly callId: string;
  readonly signature: Signature;
}

/**
 * A tool call's signature as the payload of a reasoning item: a function call has no member that would come back with it,
 * while clients return reasoning items as they got them.
 */
export const packCallSignature = ({ callId, signature }: CallSignature): string =>
  packSignature({ format, data: JSON.stringify({ callId, ...signature }) });

/** The call's signature inside a reasoning item's payload; `undefined` when it holds something else. */
export const unpackCallSignature = (text: string): CallSignature | undefined => {
  const packed = unpackSignature(text);
  const value = packed?.format === format ? parseJson(packed.data) : undefined;
  if (!isJsonObject(value)) return undefined;
  const { callId, format: wire, mint, data } = value;
  if (typeof callId !== 'string' || typeof wire !== 'string' || typeof data !== 'string') return undefined;
  return { callId, signature: { format: wire, data, ...(typeof mint === 'string' && { mint }) } };
};
