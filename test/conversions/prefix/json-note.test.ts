import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { chat, sent } from '../../transformers/formats/rig.ts';

const first = { role: 'user', content: 'List the colours.' };
const later = [first, { role: 'assistant', content: '{}' }, { role: 'user', content: 'Now as JSON with names.' }];

const systemOf = (messages: readonly JsonObject[]): unknown => {
  const { body } = sent(
    'deepseek',
    'chat',
    chat('deepseek-chat', { messages, response_format: { type: 'json_object' } }),
  );
  return Array.isArray(body.messages) ? body.messages[0] : undefined;
};

test('an instruction that the vendor needs stays when a later turn holds its word', (t) => {
  t.deepEqual(systemOf([first]), { role: 'system', content: 'Answer in JSON.' });
  t.deepEqual(systemOf(later), systemOf([first]));
});
