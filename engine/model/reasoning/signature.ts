import { isJsonObject, parseJson } from '../json/json.ts';

/**
 * An opaque payload that a vendor attaches to reasoning and requires back unchanged. It is only sent back to the provider that
 * issued it.
 */
export interface Signature {
  /** The wire format of the payload: `messages`, `responses`, `chat` or `gemini`. */
  readonly format: string;
  /** The provider that issued it; absent if unknown, as for a payload from outside the gateway. */
  readonly issuer?: string | undefined;
  /** The payload, unchanged. Empty for reasoning without one. */
  readonly data: string;
  /** The signed reasoning, if the client may lose it: vendors reject a signature on other text. */
  readonly text?: string | undefined;
  /**
   * A digest of the reasoning payload that stood before this one when it was issued. With an `issuer`, absence means that there was
   * none.
   */
  readonly after?: string | undefined;
}

const prefix = 'sy1.';

/**
 * Packs a signature into one string that a client of another protocol stores and returns. The gateway keeps no state, and no
 * vendor can mistake a packed signature for its own.
 */
export const packSignature = ({ format, issuer, data, text, after }: Signature): string =>
  prefix + Buffer.from(JSON.stringify({ format, issuer, data, text, after })).toString('base64');

/** Unpacks a signature; `undefined` if the text isn't a packed one. */
export const unpackSignature = (packed: string): Signature | undefined => {
  if (!packed.startsWith(prefix)) return undefined;
  const value = parseJson(Buffer.from(packed.slice(prefix.length), 'base64').toString());
  if (!isJsonObject(value) || typeof value.format !== 'string' || typeof value.data !== 'string') return undefined;
  const { format, issuer, data, text, after } = value;
  return {
    format,
    data,
    ...(typeof issuer === 'string' && { issuer }),
    ...(typeof text === 'string' && { text }),
    ...(typeof after === 'string' && { after }),
  };
};

/** Reads a signature from a client: a packed one, or else one of the client's wire format `native`. */
export const readSignature = (text: string, native: string): Signature =>
  unpackSignature(text) ?? { format: native, data: text };

/** Writes a signature for a client of the wire format `native`: unchanged if it has that format, else packed. */
export const writeSignature = (signature: Signature, native: string): string =>
  signature.format === native && signature.data !== '' ? signature.data : packSignature(signature);
