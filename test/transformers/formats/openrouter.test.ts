import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { chat, headersOf, isRelayed, loop, messages, sent } from './rig.ts';

const model = 'anthropic/claude-sonnet-4.5';
const rest = ({ messages: _, model: __, max_tokens: ___, ...body }: JsonObject): JsonObject => body;

const reasonings: readonly (readonly [title: string, asked: JsonObject, expected: JsonObject])[] = [
  ['an effort', { output_config: { effort: 'xhigh' } }, { effort: 'xhigh' }],
  ['a budget', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, { max_tokens: 2_000 }],
  ['none', { thinking: { type: 'disabled' } }, { effort: 'none' }],
];

for (const [title, asked, reasoning] of reasonings) {
  test(`reasoning: ${title}`, (t) => {
    t.deepEqual(rest(sent('openrouter', 'messages', messages(model, asked)).body), { reasoning });
  });
}

test('cache marks and the vendors’ own sampling are kept', (t) => {
  const content = [{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '1h' } }];
  const asked = messages(model, { top_k: 5, messages: [{ role: 'user', content }] });
  const { body, losses } = sent('openrouter', 'messages', asked);
  t.deepEqual<unknown, unknown>(body.messages, [{ role: 'user', content }]);
  t.is(body.top_k, 5);
  t.deepEqual(losses, []);
});

test('a web search is a plugin, beside those of the client', (t) => {
  const asked = chat(model, {
    tools: [{ type: 'web_search', filters: { allowed_domains: ['a.org'] } }],
    plugins: [{ id: 'file-parser' }],
  });
  t.false(isRelayed('openrouter', asked));
  t.deepEqual<unknown, unknown>(sent('openrouter', 'chat', asked).body.plugins, [
    { id: 'file-parser' },
    { id: 'web', include_domains: ['a.org'] },
  ]);
});

test('other bodies of chat clients go out as they came', (t) => {
  t.true(isRelayed('openrouter', chat(model, { provider: { sort: 'price' }, models: ['a/b'] })));
});

test("the upstream gets the application's name if the client sends one", (t) => {
  t.deepEqual(headersOf('openrouter'), { authorization: 'Bearer k' });
  const names = { 'http-referer': 'https://a.org', 'x-title': 'A', 'x-openrouter-title': 'B' };
  t.deepEqual(headersOf('openrouter', { ...names, cookie: 'c' }), { authorization: 'Bearer k', ...names });
});

test('Claude reasons on in a tool loop only with the signatures of its reasoning', (t) => {
  const signed = { reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 's' }] };
  const unsigned = { reasoning_details: [{ type: 'reasoning.text', text: 'x' }] };
  for (const [asked, details, reasons] of [
    [model, signed, true],
    [model, unsigned, false],
    [model, {}, false],
    ['openai/gpt-6.1-terra', unsigned, true],
  ] as const) {
    const body = chat(asked, { reasoning_effort: 'high', messages: loop(details) });
    const given = sent('openrouter', 'chat', body);
    t.is(given.body.reasoning !== undefined, reasons, JSON.stringify([asked, details]));
    t.is(given.losses.includes('~reasoning'), !reasons);
  }
});
