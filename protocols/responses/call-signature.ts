import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import { packSignature, type Signature, unpackSignature } from '../../engine/model/reasoning/signature.ts';

const format = 'tool-call';

/** A signature that belongs to one tool call. */
interface CallSignature {
  readonly callId: string;
  readonly signature: Signature;
}

/**
 * Packs a call's signature as a reasoning item's payload. Clients return reasoning items unchanged, while a function
 * call has no member for it.
 */
export const packCallSignature = ({ callId, signature }: CallSignature): string =>
  packSignature({ format, data: JSON.stringify({ callId, ...signature }) });

/** Unpacks a call's signature from a reasoning item's payload; `undefined` for any other payload. */
export const unpackCallSignature = (text: string): CallSignature | undefined => {
  const packed = unpackSignature(text);
  const value = packed?.format === format ? parseJson(packed.data) : undefined;
  if (!isJsonObject(value)) return undefined;
  const { callId, format: wire, issuer, data } = value;
  if (typeof callId !== 'string' || typeof wire !== 'string' || typeof data !== 'string') return undefined;
  return { callId, signature: { format: wire, data, ...(typeof issuer === 'string' && { issuer }) } };
};
