import test from 'ava';
import { GrammarError } from '../../support/facts.ts';
import { readChatReply, readChatStream } from '../../support/readers/chat.ts';

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const role = chunk({ role: 'assistant', content: '' });
const end = chunk({}, 'stop');
const done = 'data: [DONE]\n\n';
const counts = {
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};
const usage = chunk({}, null, { choices: [], usage: counts });
const error = 'data: {"error":{"message":"m","type":"t","param":null,"code":null}}\n\n';
const call = (index: number, more: object = {}) =>
  chunk({
    tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' }, ...more }],
  });
const calls = chunk({}, 'tool_calls');

const good: readonly (readonly [string, string])[] = [
  ['the smallest', role + end + done],
  ['with usage', role + end + usage + done],
  ['with an error', role + error],
  ['an error alone', error],
  ['calls', role + call(0) + call(1) + calls + done],
  ['a comment', `: keep-alive\n\n${role}${end}${done}`],
];
for (const [title, stream] of good)
  test(`keeps the grammar: ${title}`, (t) => t.notThrows(() => readChatStream(stream)));

const bad: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['no [DONE]', role + end],
  ['no finish', role + done],
  ['no role first', chunk({ content: 'a' }) + end + done],
  ['the role twice', role + role + end + done],
  ['two finishes', role + end + end + done],
  ['content behind the finish', role + end + chunk({ content: 'a' }) + done],
  ['content beside the finish', role + chunk({ content: 'a' }, 'stop') + done],
  ['another id', role + end.replace('"id":"i"', '"id":"j"') + done],
  ['another time', role + end.replace('"created":1', '"created":2') + done],
  ['another model', role + end.replace('"model":"m"', '"model":"n"') + done],
  ['usage before the finish', role + usage + end + done],
  ['usage twice', role + end + usage + usage + done],
  ['usage beside a choice', role + chunk({}, 'stop', { usage: counts }) + done],
  ['a sum that is wrong', role + end + usage.replace('"total_tokens":3', '"total_tokens":4') + done],
  ['[DONE] twice', role + end + done + done],
  ['[DONE] after an error', role + error + done],
  ['a chunk after an error', role + error + end],
  ['a chunk after [DONE]', role + end + done + end],
  ['a gap in the calls', role + call(1) + calls + done],
  ['a call without id', role + call(0, { id: undefined }) + calls + done],
  ['a call without type', role + call(0, { type: undefined }) + calls + done],
  ['a call without name', role + call(0, { function: { arguments: '' } }) + calls + done],
  ['a call that begins twice', role + call(0) + call(0) + calls + done],
  ['two calls with one id', role + call(0) + call(1, { id: 'c0' }) + calls + done],
  ['a call and a regular end', role + call(0) + end + done],
  ['tool_calls without any', role + calls + done],
  ['an unknown finish', role + chunk({}, 'end_turn') + done],
  ['an unknown member', role + chunk({ thinking: 'a' }) + end + done],
  ['an event line', `event: x\n${role}${end}${done}`],
  ['an open end', role + end + done.trimEnd()],
];
for (const [title, stream] of bad) {
  test(`breaks the grammar: ${title}`, (t) => {
    t.throws(() => readChatStream(stream), { instanceOf: GrammarError });
  });
}

const message = { role: 'assistant', content: 'a', refusal: null };
const reply = (more: object = {}, finish = 'stop') => ({
  id: 'i',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { ...message, ...more }, finish_reason: finish }],
});

test('replies', (t) => {
  t.like(readChatReply(reply()), { text: 'a', stop: 'stop' });
  t.like(readChatReply({ error: { message: 'm', type: 't', param: null, code: null } }), { error: 'm' });
  for (const body of [
    {},
    reply({ role: undefined }),
    reply({}, 'tool_calls'),
    reply({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: '' } }] }, 'tool_calls'),
    reply({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }] }, 'tool_calls'),
    { ...reply(), choices: [] },
  ]) {
    t.throws(() => readChatReply(body), { instanceOf: GrammarError });
  }
});
