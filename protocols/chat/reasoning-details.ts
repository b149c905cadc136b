import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '../../engine/model/json/json.ts';
import { packSignature, type Signature, unpackSignature } from '../../engine/model/reasoning/signature.ts';

/**
 * `reasoning_details` entries ↔ signatures. A signature of this format is the JSON of its entry without the readable
 * text: vendors require their entries unchanged, and one needs type, format and index too. A foreign signature is
 * packed into an entry of the same shape. Source: recordings of the vendors that use them.
 */
export const wireFormat = 'chat';

/** The member that holds an entry's readable text; `undefined` if there is none. */
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

/** An entry's signature: a packed one is unpacked, any other is the entry itself without the members in `left`. */
export const signatureOfEntry = (entry: JsonObject, left: readonly string[] = []): Signature => {
  const payload = typeof entry.signature === 'string' ? entry.signature : entry.data;
  const packed = typeof payload === 'string' ? unpackSignature(payload) : undefined;
  if (packed) return packed;
  const kept = Object.fromEntries(Object.entries(entry).filter(([name]) => !left.includes(name)));
  return { format: wireFormat, data: JSON.stringify(kept) };
};

/**
 * The entry for the signature of readable reasoning; `undefined` without content. `shown` is the part of the text
 * that an entry of this format repeats. A foreign signature repeats no readable text: some clients show both copies,
 * and some keep only the last piece of an unknown member.
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

/** The entry for redacted reasoning; `id` names the call that it belongs to. */
export const redactedEntry = (signature: Signature, index: number, id?: string): JsonObject => {
  const own = ownEntry(signature);
  if (own) return own;
  return { type: 'reasoning.encrypted', data: packSignature(signature), ...(id && { id }), format: 'unknown', index };
};

/** The entry inside a signature of this format; `undefined` for a foreign one. */
const ownEntry = ({ format, data }: Signature): JsonObject | undefined => {
  if (format !== wireFormat) return undefined;
  const entry = parseJson(data);
  return isJsonObject(entry) ? entry : { type: 'reasoning.text', signature: data };
};

/** An entry of `reasoning_details`, and its index in the client's list. */
interface PlacedEntry {
  readonly entry: JsonObject;
  readonly place: number;
}

/**
 * Joins the fragments of entries: some clients keep a stream's fragments as separate entries, and a signature is
 * useless without its text. Fragments of one entry share type and index. Source: OpenRouter documentation, "Reasoning
 * Tokens".
 */
export const joinFragments = (entries: readonly JsonObject[]): readonly PlacedEntry[] => {
  const joined: { entry: JsonObject; place: number; texts: string[] }[] = [];
  for (const [place, entry] of entries.entries()) {
    const last = joined.at(-1);
    if (last && isMore(last.entry, entry)) {
      last.texts.push(entryText(entry));
      last.entry = { ...last.entry, ...given(entry) };
    } else joined.push({ entry, place, texts: [entryText(entry)] });
  }
  return joined.map(({ entry, place, texts }) => {
    const member = textMember(entry);
    return { place, entry: member && texts.length > 1 ? { ...entry, [member]: texts.join('') } : entry };
  });
};

const isMore = (before: JsonObject, entry: JsonObject): boolean =>
  textMember(entry) !== undefined &&
  entry.type === before.type &&
  entry.index !== undefined &&
  entry.index === before.index &&
  !before.signature;

const given = (entry: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  );

/** The members of a call that this format knows. */
const knownCallMembers: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom']);

/** The other members of a call or its fragment, which its vendor may require back; `undefined` without any. */
export const otherMembers = (call: object): JsonObject | undefined => {
  let others: Record<string, Json> | undefined;
  for (const [name, value] of Object.entries<Json | undefined>({ ...call })) {
    if (knownCallMembers.has(name) || value === undefined || value === null) continue;
    others ??= {};
    others[name] = value;
  }
  return others;
};

/** A call's other members as its signature: they go back to the same provider alone. */
export const signatureOfMembers = (members: JsonObject): Signature => ({
  format: wireFormat,
  data: writeJson(members),
});

/** The members that a call's signature of this format holds; `undefined` for another one. */
export const membersOfSignature = (signature: Signature | undefined): JsonObject | undefined => {
  if (signature?.format !== wireFormat) return undefined;
  const members = parseJson(signature.data);
  return isJsonObject(members) ? members : undefined;
};
