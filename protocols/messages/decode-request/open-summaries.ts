import { openSummary, packSummary, summaryText } from '../../../engine/model/compaction.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Part, TextPart, Turn } from '../../../engine/model/request.ts';
import { isUnsealed } from '../unsealed-searches.ts';

/** Marks a block whose summary a model of another vendor wrote. The text is the block's own, so that clients can show it. */
export const ownMark = packSummary('');

/** Whether a conversation holds such a block, or a web search that is none of its vendor's: the vendor would refuse either. */
export const holdsOwnBlocks = (messages: readonly unknown[]): boolean =>
  messages.some(
    (message) =>
      isJsonObject(message) &&
      Array.isArray(message.content) &&
      message.content.some((block) => isJsonObject(block) && (isOwn(block) || isUnsealed(block))),
  );

const isOwn = ({ type, encrypted_content: payload, content }: JsonObject): boolean =>
  type === 'compaction' && typeof content === 'string' && openSummary(payload) !== undefined;

/** The conversation from the last such block on, which becomes the user's text: it stands for what was before it. */
export const openSummaries = (turns: readonly Turn[]): readonly Turn[] => {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const place = turns[index]?.parts.findLastIndex(isOwnPart) ?? -1;
    const part = turns[index]?.parts[place];
    if (part?.type !== 'opaque') continue;
    const summary: TextPart = { type: 'text', text: summaryText(String(part.raw.content)), at: part.at };
    return startWith(summary, turns, index, place);
  }
  return turns;
};

const isOwnPart = (part: Part): boolean => part.type === 'opaque' && part.wire === 'messages' && isOwn(part.raw);

/** A user's turn with the summary, then what follows the part that holds it: at `place` of the turn at `index`. */
export const startWith = (summary: TextPart, turns: readonly Turn[], index: number, place: number): readonly Turn[] => {
  const own = turns[index];
  const at = own?.at;
  const rest = own?.parts.slice(place + 1) ?? [];
  const [next, ...others] = turns.slice(index + 1);
  if (own && rest.length > 0) {
    return [{ role: 'user', parts: [summary], at }, { ...own, parts: rest }, ...turns.slice(index + 1)];
  }
  if (next?.role === 'user') return [{ ...next, parts: [summary, ...next.parts] }, ...others];
  return [{ role: 'user', parts: [summary], at }, ...turns.slice(index + 1)];
};
