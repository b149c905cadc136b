import type { JsonObject } from '../../../engine/model/json/json.ts';
import { type Signature, unpackSignature } from '../../../engine/model/reasoning/signature.ts';
import type { Part, ThinkingPart } from '../../../engine/model/request.ts';
import { entryText, joinFragments, signatureOfEntry, textMember } from '../reasoning-details.ts';
import type { AssistantMessage } from './schema-request.ts';

/**
 * The reasoning of an assistant message in the history. A message may contain it twice: `reasoning_details` entries are
 * used if they hold text; otherwise the plain text is split at the entries' text ranges.
 */
export const decodeReasoning = (message: AssistantMessage, at: string): Part[] => {
  const plainAt = `${at}.${message.reasoning_content ? 'reasoning_content' : 'reasoning'}`;
  const plain = message.reasoning_content || message.reasoning || '';
  if (plain === '' && !message.reasoning_details?.length) return [];
  const placed = joinFragments(message.reasoning_details ?? []);
  const entries = placed.map(({ entry }) => entry);
  const own = entries.some((entry) => entryText(entry) !== '');
  const ranges = own ? undefined : rangesOf(entries, plain.length);
  const parts: Part[] = [];
  let used = 0;
  placed.forEach(({ entry, place }, index) => {
    const entryAt = `${at}.reasoning_details[${place}]`;
    if (textMember(entry) === undefined) {
      if (callOf(entry) === undefined) {
        parts.push({ type: 'redacted-thinking', signature: signatureOfEntry(entry), at: entryAt });
      }
      return;
    }
    const [start, end] = ranges?.[index] ?? [used, own ? used : plain.length];
    if (start > used) parts.push({ type: 'thinking', text: plain.slice(used, start), at: plainAt });
    const text = own ? entryText(entry) : plain.slice(start, end);
    used = own ? used : end;
    parts.push(thinkingOf(entry, text, entryAt));
  });
  if (!own && used < plain.length) parts.push({ type: 'thinking', text: plain.slice(used), at: plainAt });
  return parts.filter((part) => part.type !== 'thinking' || part.text !== '' || part.signature !== undefined);
};

/** Signatures that entries hold for tool calls, by call id. The encoder of the reply put them there. */
export const callSignatures = ({ reasoning_details: entries }: AssistantMessage): ReadonlyMap<string, Signature> => {
  const byCall = new Map<string, Signature>();
  for (const entry of entries ?? []) {
    const id = callOf(entry);
    const signature = typeof entry.data === 'string' ? unpackSignature(entry.data) : undefined;
    if (id !== undefined && signature && !byCall.has(id)) byCall.set(id, signature);
  }
  return byCall;
};

/**
 * The id of the call that a packed signature belongs to; `undefined` for a vendor's own entry, which keeps its
 * position.
 */
const callOf = (entry: JsonObject): string | undefined =>
  typeof entry.id === 'string' && typeof entry.data === 'string' && unpackSignature(entry.data) ? entry.id : undefined;

const thinkingOf = (entry: JsonObject, text: string, at: string): ThinkingPart => {
  const bare = Object.keys(entry).every((name) => name === 'type' || name === 'text' || name === 'text_range');
  if (bare && entry.type === 'reasoning.text') return { type: 'thinking', text, at };
  const { text: signed, ...signature } = signatureOfEntry(entry, ['text', 'summary', 'text_range']);
  return { type: 'thinking', text: signed ?? text, signature, at };
};

/** The range of each entry in the plain text; `undefined` if an entry has none or the text has changed. */
const rangesOf = (
  entries: readonly JsonObject[],
  length: number,
): readonly (readonly [number, number] | undefined)[] | undefined => {
  let last = 0;
  const ranges: (readonly [number, number] | undefined)[] = [];
  for (const entry of entries) {
    if (textMember(entry) === undefined) {
      ranges.push(undefined);
      continue;
    }
    const [start, end] = Array.isArray(entry.text_range) ? entry.text_range : [];
    if (typeof start !== 'number' || typeof end !== 'number' || start < last || end < start || end > length) {
      return undefined;
    }
    last = end;
    ranges.push([start, end]);
  }
  return ranges;
};
