import { isJsonObject, type Json, type JsonObject, parseJson } from '../../engine/model/json.ts';
import { packSignature, type Signature, unpackSignature } from '../../engine/model/signature.ts';

/**
 * `reasoning_details` entries ↔ signatures. A signature of this wire is the JSON of the entry that it came in, without the
 * readable text: vendors want their entries back unchanged, and one needs more than its payload for that (type, format, index).
 * A foreign signature travels in an entry of the same shape, packed. Source: recordings of the vendors that have them.
 */
export const wireFormat = 'chat';

/** The member of an entry that holds its readable text; `undefined` for entries that hold none. */
export const textMember = (entry: JsonObject): 'text' | 'summary' | undefined => {
  if (entry.type === 'reasoning.text') return 'text';
  return entry.type === 'reasoning.summary' ? 'summary' : undefined;
};

/** An entry's readable text; empty when it has none. */
export const entryText = (entry: JsonObject): string => {
  const member = textMember(entry);
  const text: Json | undefined = member && entry[member];
  return typeof text === 'string' ? text : '';
};

/** The signature inside an entry: a packed one as it was, any other as the entry itself without `left` out members. */
export const signatureOfEntry = (entry: JsonObject, left: readonly string[] = []): Signature => {
  const payload = typeof entry.signature === 'string' ? entry.signature : entry.data;
  const packed = typeof payload === 'string' ? unpackSignature(payload) : undefined;
  if (packed) return packed;
  const kept = Object.fromEntries(Object.entries(entry).filter(([name]) => !left.includes(name)));
  return { format: wireFormat, data: JSON.stringify(kept) };
};

/**
 * The entry that carries the signature of readable reasoning; `undefined` when there is nothing to carry. `shown` is what of the
 * text an entry of this wire repeats. A foreign seal has the whole text inside, and repeats none of it for readers: some
 * clients show both twins, and some keep only the last piece of a member that they don't know.
 */
export const thinkingEntry = (
  signature: Signature,
  text: string,
  shown: string,
  index: number,
): JsonObject | undefined => {
  if (signature.data === '') return undefined;
  const own = ownEntry(signature);
  if (own) return { type: 'reasoning.text', ...own, [textMember(own) ?? 'text']: shown };
  return {
    type: 'reasoning.text',
    text: '',
    signature: packSignature({ ...signature, text }),
    format: 'unknown',
    index,
  };
};

/** The entry that carries reasoning which only its vendor can read; `id` names the call that it belongs to. */
export const redactedEntry = (signature: Signature, index: number, id?: string): JsonObject => {
  const own = ownEntry(signature);
  if (own) return own;
  return { type: 'reasoning.encrypted', data: packSignature(signature), ...(id && { id }), format: 'unknown', index };
};

/** The entry that a signature of this wire is; `undefined` for a foreign one. */
const ownEntry = ({ format, data }: Signature): JsonObject | undefined => {
  if (format !== wireFormat) return undefined;
  const entry = parseJson(data);
  return isJsonObject(entry) ? entry : { type: 'reasoning.text', signature: data };
};
