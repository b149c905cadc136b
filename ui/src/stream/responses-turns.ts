import type { JsonObject } from '../api/json.ts';
import { AnswerBuilder } from './answer-builder.ts';
import type { Turn, TurnPart } from './conversation.ts';
import { readItem } from './read-responses.ts';
import { contentAt, filePart, textParts, turnOf } from './turns.ts';
import { objectsAt, textAt } from './wire-value.ts';

/** The turns of a Responses request. Source: Responses API reference, "Create a model response". */
export const responsesTurns = (body: JsonObject): readonly Turn[] => [
  ...turnOf('system', textParts(textAt(body, 'instructions'))),
  ...turnOf('user', textParts(textAt(body, 'input'))),
  ...objectsAt(body, 'input').flatMap(readInput),
];

const readInput = (item: JsonObject): readonly Turn[] => {
  const type = textAt(item, 'type');
  const role = textAt(item, 'role');
  if (role !== '') {
    const name = role === 'assistant' ? role : role === 'system' || role === 'developer' ? 'system' : 'user';
    return turnOf(name, contentAt(item, 'content', readPart));
  }
  if (type.endsWith('_output')) {
    const result = { failed: false, parts: contentAt(item, 'output', readPart) };
    return turnOf('user', [{ type: 'result', id: textAt(item, 'call_id'), result }]);
  }
  const said = new AnswerBuilder();
  readItem(said, '', item);
  return turnOf('assistant', said.snapshot().parts);
};

const readPart = (part: JsonObject): readonly TurnPart[] => {
  const type = textAt(part, 'type');
  if (type.endsWith('text')) return textParts(textAt(part, 'text'));
  if (type === 'refusal') return textParts(textAt(part, type));
  if (type === 'input_image') return [{ type: 'picture', url: textAt(part, 'image_url') || textAt(part, 'file_id') }];
  if (type === 'input_file') return [filePart(textAt(part, 'filename') || textAt(part, 'file_url'), type)];
  return [{ type: 'other', name: type }];
};
