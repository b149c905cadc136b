import type { JsonObject } from '../../engine/model/json.ts';
import type { Part, ThinkingPart } from '../../engine/model/request.ts';
import { unpackSignature } from '../../engine/model/signature.ts';
import { joinFragments } from './join-fragments.ts';
import { entryText, signatureOfEntry, textMember } from './reasoning-details.ts';
import type { AssistantMessage } from './schema.ts';

/**
 * The reasoning of an assistant message that a client sent back. Of the twins only one is used: the entries of
 * `reasoning_details` where they hold text, else the plain text, cut where the entries say.
 */
export const decodeReasoning = (message: AssistantMessage, at: string): Part[] => {
  const plainAt = `${at}.${message.reasoning_content ? 'reasoning_content' : 'reasoning'}`;
  const plain = message.reasoning_content || message.reasoning || '';
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

/** The payload that an entry holds for the call with this id, put there when the reply was encoded. */
export const callSignature = (message: AssistantMessage, id: string) => {
  const entry = message.reasoning_details?.find((candidate) => callOf(candidate) === id);
  return typeof entry?.data === 'string' ? unpackSignature(entry.data) : undefined;
};

/** The id of the call that a packed payload belongs to. An entry of a vendor's own keeps its place among the others. */
const callOf = (entry: JsonObject): string | undefined =>
  typeof entry.id === 'string' && typeof entry.data === 'string' && unpackSignature(entry.data) ? entry.id : undefined;

const thinkingOf = (entry: JsonObject, text: string, at: string): ThinkingPart => {
  const bare = Object.keys(entry).every((name) => name === 'type' || name === 'text' || name === 'text_range');
  if (bare && entry.type === 'reasoning.text') return { type: 'thinking', text, at };
  const { text: sealed, ...signature } = signatureOfEntry(entry, ['text', 'summary', 'text_range']);
  return { type: 'thinking', text: sealed ?? text, signature, at };
};

/** Where each entry's text lies in the plain one; `undefined` when the entries don't say or the text has changed. */
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
