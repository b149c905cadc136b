import type { JsonObject } from '../api/json.ts';
import type { Turn, TurnPart } from './conversation.ts';
import { blockPart } from './read-messages.ts';
import { contentAt, filePart, textParts, thinkingParts, turnOf } from './turns.ts';
import { objectAt, objectsAt, textAt } from './wire-value.ts';

/** The turns of a Messages request. Source: Messages API reference, "Create a Message". */
export const messagesTurns = (body: JsonObject): readonly Turn[] => [
  ...turnOf('system', contentAt(body, 'system', readBlock)),
  ...objectsAt(body, 'messages').flatMap((message) =>
    turnOf(roles[textAt(message, 'role')] ?? 'user', contentAt(message, 'content', readBlock)),
  ),
];

const roles: Readonly<Record<string, Turn['role']>> = { assistant: 'assistant', system: 'system' };

const readBlock = (block: JsonObject): readonly TurnPart[] => {
  const type = textAt(block, 'type');
  const source = objectAt(block, 'source');
  if (type === 'image') return [{ type: 'picture', url: addressOf(source) }];
  if (type === 'document') return [filePart(textAt(block, 'title') || textAt(source, 'url'), type)];
  if (type === 'tool_result' || type.endsWith('_tool_result')) {
    const result = { failed: block.is_error === true, parts: contentAt(block, 'content', readBlock) };
    return [{ type: 'result', id: textAt(block, 'tool_use_id'), result }];
  }
  const part = blockPart(block);
  if (part.type === 'tool') return [{ ...part, input: JSON.stringify(block.input ?? {}) }];
  if (part.type === 'text') return textParts(part.text);
  return part.type === 'thinking' ? thinkingParts(part.text) : [{ ...part }];
};

const addressOf = (source: JsonObject): string =>
  textAt(source, 'type') === 'base64'
    ? `data:${textAt(source, 'media_type')};base64,${textAt(source, 'data')}`
    : textAt(source, 'url') || textAt(source, 'file_id');
