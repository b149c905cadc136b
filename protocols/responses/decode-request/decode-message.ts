import { fail } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Extra, Part, TextPart } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { addTurn, append, type Conversation } from './conversation.ts';
import { decodeContent, extraOf } from './decode-content.ts';
import { MessageItem } from './schema-request.ts';

const messageReader = reader(MessageItem);

/** Decodes a message. Instructions before the first turn are the system's; later ones are turns of their own. */
export const decodeMessage = (state: Conversation, item: JsonObject, at: string): void => {
  const { role, content } = messageReader.read(item, at);
  const parts = decodeContent(content, memberPath(at, 'content'));
  const extra = extraOf(item, ['type', 'role', 'content', 'id', 'status'], at);
  if (role === 'user') {
    addTurn(state, { role, parts: [...parts], at, extra });
  } else if (role === 'assistant') {
    // The turn holds several items; this message's other members go to its first part.
    const [first, ...rest] = around(extra, parts);
    if (first) append(state, 'assistant', at, first, ...rest);
  } else {
    const texts = parts.map((part, index) => asText(part, `${at}.content[${index}]`));
    if (state.turns.length === 0) state.system.push(...around(extra, texts));
    else addTurn(state, { role: 'system', parts: texts, at, extra });
  }
};

/** Adds the message's other members to its first part. */
const around = <P extends Part>(outer: Extra | undefined, [first, ...rest]: readonly P[]): readonly P[] => {
  if (!first) return [];
  if (!outer) return [first, ...rest];
  return [
    { ...first, extra: { wire: 'responses', at: first.at ?? outer.at, fields: {}, ...first.extra, outer } },
    ...rest,
  ];
};

const asText = (part: Part, at: string): TextPart =>
  part.type === 'text' ? part : fail('invalid-request', `${at}: instructions hold text only.`, { param: at });
