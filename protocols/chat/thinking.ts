import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { type Answer, closeBlock, openBlock } from './answer.ts';
import { closeCalls } from './calls.ts';
import { entryText, signatureOfEntry, textMember } from './reasoning-details.ts';
import type { WireMessage } from './schema-reply.ts';

/** The thinking block that is open. */
export interface ThinkingState {
  /** Which entry it is made of: its type and index; empty for plain text. */
  key: string;
  /** The entry without its readable text, its fragments put together. */
  entry: JsonDraft | undefined;
}

/** Members that say what the deltas say, or where. */
const textMembers = ['text', 'summary', 'text_range'];

/**
 * The reasoning in a delta or message. Vendors write it under two names, and some give it twice, in plain and as entries: the
 * entries count where they hold text, the plain text otherwise.
 */
export const readReasoning = (answer: Answer, message: WireMessage, out: ModelEvent[]): void => {
  const plain = message.reasoning_content || message.reasoning || '';
  const entries = message.reasoning_details;
  if (!entries || entries.length === 0) {
    if (plain !== '') readThinking(answer, '', plain, undefined, out);
    return;
  }
  let twin = entries.some((entry) => entryText(entry) !== '') ? '' : plain;
  for (const entry of entries) {
    if (textMember(entry) === undefined) {
      readRedacted(answer, entry, out);
      continue;
    }
    readThinking(answer, `${entry.type}:${entry.index ?? ''}`, entryText(entry) || twin, entry, out);
    twin = '';
  }
  if (twin !== '') readThinking(answer, '', twin, undefined, out);
};

const readThinking = (
  answer: Answer,
  key: string,
  text: string,
  entry: JsonObject | undefined,
  out: ModelEvent[],
): void => {
  // An entry that says nothing yet opens no block.
  if (text === '' && !entry?.signature) return;
  const { thinking } = answer;
  const goesOn = answer.open === 'thinking' && (thinking.key === key || thinking.key === '' || key === '');
  if (!goesOn) {
    closeCalls(answer, out);
    if (answer.done) return;
    openBlock(answer, { type: 'thinking' }, out);
    thinking.key = '';
    thinking.entry = undefined;
  }
  if (key !== '') thinking.key = key;
  if (entry) mergeEntry(thinking, entry);
  if (text !== '') out.push({ type: 'thinking-delta', index: answer.blocks - 1, text });
};

const mergeEntry = (thinking: ThinkingState, entry: JsonObject): void => {
  thinking.entry ??= {};
  for (const name of Object.keys(entry)) {
    const value = entry[name];
    if (!textMembers.includes(name) && value !== null && value !== '') thinking.entry[name] = value;
  }
};

const readRedacted = (answer: Answer, entry: JsonObject, out: ModelEvent[]): void => {
  closeCalls(answer, out);
  if (answer.done) return;
  openBlock(answer, { type: 'redacted-thinking', signature: signatureOfEntry(entry) }, out);
  closeBlock(answer, out);
};
