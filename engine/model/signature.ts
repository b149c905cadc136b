import { isJsonObject, parseJson } from './json.ts';

/**
 * An opaque payload that a vendor attaches to its reasoning and wants back unchanged, with the wire language and the provider
 * that minted it: it is only ever sent back to that one.
 */
export interface Signature {
  /** The wire format that it is written in, such as `messages`, `responses`, `chat`, `gemini`. */
  readonly format: string;
  /** The name of the provider that minted it; absent where nobody knows, as with a payload that a client took from elsewhere. */
  readonly mint?: string | undefined;
  /** The payload, byte for byte. Empty when the upstream gave reasoning without any. */
  readonly data: string;
  /** The reasoning that it seals, where the way through a client may lose it: vendors refuse a seal on another text. */
  readonly text?: string | undefined;
}

const prefix = 'sy1.';

/**
 * A signature as one string that travels through a client of another protocol and back: the gateway keeps no state, and a
 * vendor that gets one by mistake can't take it for its own.
 */
export const packSignature = ({ format, mint, data, text }: Signature): string =>
  prefix + Buffer.from(JSON.stringify({ format, mint, data, text })).toString('base64');

/** The signature inside a packed one; `undefined` when the text is no packed signature. */
export const unpackSignature = (packed: string): Signature | undefined => {
  if (!packed.startsWith(prefix)) return undefined;
  const value = parseJson(Buffer.from(packed.slice(prefix.length), 'base64').toString());
  if (!isJsonObject(value) || typeof value.format !== 'string' || typeof value.data !== 'string') return undefined;
  const { format, mint, data, text } = value;
  return { format, data, ...(typeof mint === 'string' && { mint }), ...(typeof text === 'string' && { text }) };
};

/** The signature that a client sent back: a packed one, or else one that `native`, the client's own wire format, minted. */
export const readSignature = (text: string, native: string): Signature =>
  unpackSignature(text) ?? { format: native, data: text };

/** The signature as a client of the wire format `native` gets it: its own as it is, a foreign one packed. */
export const writeSignature = (signature: Signature, native: string): string =>
  signature.format === native && signature.data !== '' ? signature.data : packSignature(signature);
