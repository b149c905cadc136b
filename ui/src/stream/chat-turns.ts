import type { JsonObject } from '../api/json.ts';
import { AnswerBuilder } from './answer-builder.ts';
import type { Turn, TurnPart } from './conversation.ts';
import { readSaid } from './read-chat.ts';
import { contentAt, filePart, textParts, turnOf } from './turns.ts';
import { objectAt, objectsAt, textAt } from './wire-value.ts';

/** The turns of a Chat Completions request. Source: Chat Completions API reference, "Create chat completion". */
export const chatTurns = (body: JsonObject): readonly Turn[] => objectsAt(body, 'messages').flatMap(readMessage);

const readMessage = (message: JsonObject): readonly Turn[] => {
  const role = textAt(message, 'role');
  if (role === 'system' || role === 'developer') return turnOf('system', contentAt(message, 'content', readPart));
  if (role === 'tool' || role === 'function') {
    const result = { failed: false, parts: contentAt(message, 'content', readPart) };
    return turnOf('user', [{ type: 'result', id: textAt(message, 'tool_call_id'), result }]);
  }
  if (role !== 'assistant') return turnOf('user', contentAt(message, 'content', readPart));
  const said = new AnswerBuilder();
  readSaid(said, message);
  const listed = Array.isArray(message.content) ? contentAt(message, 'content', readPart) : [];
  return turnOf('assistant', [...listed, ...said.snapshot().parts]);
};

const readPart = (part: JsonObject): readonly TurnPart[] => {
  const type = textAt(part, 'type');
  if (type === 'text' || type === 'refusal') return textParts(textAt(part, type));
  if (type === 'image_url') return [{ type: 'picture', url: textAt(objectAt(part, type), 'url') }];
  if (type === 'file') return [filePart(textAt(objectAt(part, type), 'filename'), type)];
  return [{ type: 'other', name: type }];
};
