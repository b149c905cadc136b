import test from 'ava';
import type { Script, UpstreamAnswer } from '../../support/upstreams/upstream.ts';
import { good, rig } from './retry/rig.ts';

const members = { extra_content: { google: { thought_signature: 'U0lHTkFUVVJFLU9GLUEtVEhPVUdIVA==' } } };
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' }, ...members };

/** A call with members that the reference doesn't have, whole or in two fragments. */
const calling: Script = ({ body }): UpstreamAnswer => {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const [first, rest] = [
    { ...call, index: 0, function: { name: 'f', arguments: '{"a"' } },
    { index: 0, function: { arguments: ':1}' } },
  ];
  return Object(body).stream
    ? {
        headers: { 'content-type': 'text/event-stream' },
        pieces: [
          chunk({ tool_calls: [first] }, null),
          chunk({ tool_calls: [rest] }, null),
          chunk({}, 'tool_calls'),
          'data: [DONE]\n\n',
        ],
      }
    : {
        headers: { 'content-type': 'application/json' },
        pieces: [
          JSON.stringify({
            id: 'c',
            model: 'm',
            choices: [{ index: 0, message: { tool_calls: [call] }, finish_reason: 'tool_calls' }],
          }),
        ],
      };
};

const parameters = { type: 'object', properties: { a: { type: 'number' } } };
const hi = { role: 'user', content: 'hi' };
const turns = {
  '/v1/messages': {
    first: { tools: [{ name: 'f', input_schema: parameters }] },
    second: {
      tools: [{ name: 'f', input_schema: parameters }],
      messages: [
        hi,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
      ],
    },
  },
  '/v1/responses': {
    first: {
      messages: undefined,
      max_tokens: undefined,
      input: [hi],
      tools: [{ type: 'function', name: 'f', parameters }],
    },
    second: {
      messages: undefined,
      max_tokens: undefined,
      tools: [{ type: 'function', name: 'f', parameters }],
      input: [
        hi,
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      ],
    },
  },
} as const;

const sentCall = (body: unknown): unknown =>
  Object(body).messages.find(({ role }: { readonly role: string }) => role === 'assistant').tool_calls[0];

for (const [path, { first, second }] of Object.entries(turns)) {
  test(`${path}: what a call holds beyond the reference goes back with it to its provider, and to no other`, async (t) => {
    for (const stream of [true, false]) {
      const { ask, upstreams } = await rig(t, [calling, calling, good()], {
        formats: ['openai', 'openai', 'anthropic'],
      });
      t.is((await ask({ ...first, stream, model: 'a,m' }, path)).status, 200);
      for (const model of ['a,m', 'b,m']) t.is((await ask({ ...second, stream, model }, path)).status, 200);
      t.deepEqual(sentCall(upstreams[0]?.requests[1]?.body), call);
      const { extra_content: _, ...plain } = call;
      t.deepEqual(sentCall(upstreams[1]?.requests[0]?.body), plain);
    }
  });
}

test('a chat client whose answer is converted gets the members, and may send them back', async (t) => {
  for (const stream of [true, false]) {
    const { ask, upstreams } = await rig(t, [calling], {
      formats: ['openai'],
      providers: [{ transformers: { use: ['enhancetool'] } }],
      config: { transformers: [{ name: 'openai', provider: 'a' }, { name: 'enhancetool' }] },
    });
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    const { text } = await ask({ stream, tools }, '/v1/chat/completions');
    t.true(text.includes(JSON.stringify(members).slice(1, -1)), text);
    const messages = [
      hi,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ];
    await ask({ stream, tools, messages }, '/v1/chat/completions');
    t.deepEqual(sentCall(upstreams[0]?.requests[1]?.body), call);
  }
});

test('members that come after the call has begun are a loss', async (t) => {
  const late: Script = () => ({
    headers: { 'content-type': 'text/event-stream' },
    pieces: [
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '}' }, ...members }] },
    ]
      .map((delta) => `data: ${JSON.stringify({ choices: [{ delta, finish_reason: null }] })}\n\n`)
      .concat('data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n', 'data: [DONE]\n\n'),
  });
  const { ask, get } = await rig(t, [late], { formats: ['openai'] });
  const { text } = await ask({ ...turns['/v1/messages'].first, stream: true });
  t.regex(text, /"type":"tool_use"/);
  const list = await get<{ readonly data: object }>('/api/requests');
  t.regex(JSON.stringify(list), /reply\.tool_calls\.extra_content/);
});
