import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { entryText, signatureOfEntry, textMember } from '../reasoning-details.ts';
import type { WireMessage } from '../schema-reply.ts';
import { closeCalls } from './read-tool-calls.ts';
import { closeBlock, openBlock, type ReplyState, type ThinkingState } from './reply-state.ts';

/** Members that the deltas already cover. */
const textMembers = ['text', 'summary', 'text_range'];

const plainReasoning = ({ reasoning_content, reasoning, reasoning_text, thinking }: WireMessage): unknown =>
  reasoning_content || reasoning || reasoning_text || thinking;

/** The text of readable reasoning: a text, a part that holds one, or a list of either. */
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part) => (typeof part === 'string' ? part : partText(part))).join('');
  return partText(value);
};

/** A part holds its text, or a list of such parts. */
const partText = (part: unknown): string => {
  if (!isJsonObject(part)) return '';
  const inner = part.thinking ?? part.text ?? part.content ?? part.summary;
  if (typeof inner === 'string') return inner;
  const texts = Array.isArray(inner) ? inner.map((one: unknown) => (isJsonObject(one) ? one.text : one)) : [];
  return texts.filter((text) => typeof text === 'string').join('');
};

/**
 * Reads the reasoning in a delta or message. Vendors use several names, and some send it both as plain text and as
 * entries: entries count if they hold text, otherwise the plain text.
 */
export const readReasoning = (state: ReplyState, message: WireMessage, out: ModelEvent[]): void => {
  const plain = textOf(plainReasoning(message));
  const entries = message.reasoning_details;
  if (!entries || entries.length === 0) {
    if (plain !== '') readThinking(state, '', plain, undefined, out);
    return;
  }
  let twin = entries.some((entry) => entryText(entry) !== '') ? '' : plain;
  for (const entry of entries) {
    if (textMember(entry) === undefined) {
      readRedacted(state, entry, out);
      continue;
    }
    readThinking(state, `${entry.type}:${entry.index}`, entryText(entry) || twin, entry, out);
    twin = '';
  }
  if (twin !== '') readThinking(state, '', twin, undefined, out);
};

const readThinking = (
  state: ReplyState,
  key: string,
  text: string,
  entry: JsonObject | undefined,
  out: ModelEvent[],
): void => {
  // An entry without content opens no block.
  if (text === '' && !entry?.signature) return;
  const { thinking } = state;
  const goesOn = state.open === 'thinking' && (thinking.key === key || thinking.key === '' || key === '');
  if (!goesOn) {
    closeCalls(state, out);
    if (state.done) return;
    openBlock(state, { type: 'thinking' }, out);
    thinking.key = '';
    thinking.entry = undefined;
  }
  if (key !== '') thinking.key = key;
  if (entry) mergeEntry(thinking, entry);
  if (text !== '') out.push({ type: 'thinking-delta', index: state.blocks - 1, text });
};

const mergeEntry = (thinking: ThinkingState, entry: JsonObject): void => {
  thinking.entry ??= {};
  for (const name of Object.keys(entry)) {
    const value = entry[name];
    if (!textMembers.includes(name) && value !== null && value !== '') thinking.entry[name] = value;
  }
};

const readRedacted = (state: ReplyState, entry: JsonObject, out: ModelEvent[]): void => {
  closeCalls(state, out);
  if (state.done) return;
  openBlock(state, { type: 'redacted-thinking', signature: signatureOfEntry(entry) }, out);
  closeBlock(state, out);
};
