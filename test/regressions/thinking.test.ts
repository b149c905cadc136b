import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import { foldReply, isFault } from '../../engine/model/reply.ts';
import { anyText } from '../support/arbitraries/text.ts';
import { plainRequest, replyContext } from '../support/context.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';
import { at, type ClientName, clientNames, clients, hear, send, vendor } from './rig.ts';
import {
  begin,
  block,
  callItem,
  candidate,
  chunk,
  done,
  finish,
  message,
  response,
  role,
  text,
} from './vendor-words.ts';

const signed = (signature: string): JsonObject[] =>
  message([
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Hm' },
      { type: 'thinking_delta', thinking: ', well.' },
      { type: 'signature_delta', signature },
    ),
    ...text(1, 'Hello.'),
  ]);

const thinkingStreams = {
  anthropic: signed('c2lnbmF0dXJlIGJ5dGVz'),
  openai: [
    role,
    chunk({ reasoning_content: 'Hm' }),
    chunk({ reasoning_content: ', well.' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo.' }),
    finish('stop'),
    done,
  ],
  openrouter: [
    chunk({ role: 'assistant', content: '', reasoning: 'Hm', reasoning_details: [detail({ text: 'Hm' })] }),
    chunk({ content: '', reasoning: ', well.', reasoning_details: [detail({ text: ', well.' })] }),
    chunk({ content: '', reasoning: null, reasoning_details: [detail({ signature: 'c2lnbmF0dXJlIGJ5dGVz' })] }),
    chunk({ content: 'Hello.' }),
    finish('stop'),
    done,
  ],
  responses: response([
    { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm, well.' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm, well.' }],
        encrypted_content: 'c2lnbmF0dXJlIGJ5dGVz',
      },
    },
    { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id: 'msg_1', content: [] } },
    { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Hello.' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Hello.', annotations: [] }] },
    },
  ]),
  gemini: [
    candidate([{ text: 'Hm', thought: true }]),
    candidate([{ text: ', well.', thought: true }]),
    candidate([{ text: 'Hello.' }], 'STOP'),
  ],
} as const satisfies Readonly<Record<string, readonly (string | JsonObject)[]>>;

function detail(members: JsonObject): JsonObject {
  return { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0, ...members };
}

for (const [upstream, records] of Object.entries(thinkingStreams)) {
  for (const client of clientNames) {
    test(`R1: reasoning goes into its own block, and no token is lost at the switch: ${upstream} → ${client}`, (t) => {
      const { facts } = hear(upstream, client, records);
      t.is(facts.reasoning, 'Hm, well.');
      t.is(facts.text, 'Hello.');
    });

    test(`R2: the message begins once: ${upstream} → ${client}`, (t) => {
      const { text: stream } = hear(upstream, client, records);
      const beginning = {
        messages: /"type":"message_start"/g,
        chat: /"role":"assistant"/g,
        responses: /"type":"response.created"/g,
      }[client];
      t.is(stream.match(beginning)?.length, 1);
    });
  }
}

for (const client of clientNames) {
  test(`R2: a role in each chunk begins no second message: ${client}`, (t) => {
    const chunks = ['a', 'b'].map((content) => chunk({ role: 'assistant', content }));
    const { facts } = hear('openai', client, [...chunks, finish('stop'), done]);
    t.is(facts.text, 'ab');
  });
}

/** One answer with reasoning, a call and both their payloads, for a client to send back. */
const reasonedCall = {
  anthropic: {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: '‹payload›' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2 },
  },
  openrouter: {
    id: 'gen-1',
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          reasoning: 'Hm',
          reasoning_details: [detail({ text: 'Hm', signature: '‹payload›' })],
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    model: 'm',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: '‹payload›',
      },
      callItem('call_1', 'f', '{}'),
    ],
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  },
  gemini: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: '‹payload›' }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    modelVersion: 'm',
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

/** What a client sends next: the answer as it got it, and the call's result. */
const nextTurn: Readonly<Record<ClientName, (reply: JsonObject) => JsonObject>> = {
  messages: (reply) =>
    ({
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: reply.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: at(reply, 'content', -1, 'id'), content: 'ok' }],
        },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    }) as JsonObject,
  chat: (reply) => {
    const answer = at(reply, 'choices', 0, 'message');
    return {
      messages: [
        { role: 'user', content: 'go' },
        answer,
        { role: 'tool', tool_call_id: at(answer, 'tool_calls', 0, 'id'), content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      reasoning_effort: 'medium',
    } as JsonObject;
  },
  responses: (reply) => {
    const output = Array.isArray(reply.output) ? reply.output : [];
    return {
      input: [
        { role: 'user', content: 'go' },
        ...output,
        { type: 'function_call_output', call_id: at(output, -1, 'call_id'), output: 'ok' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      reasoning: { effort: 'medium' },
    } as JsonObject;
  },
};

/** A vendor's whole answer as a client gets it, in JSON text. */
const replyTo = (client: ClientName, upstream: string, body: JsonObject): JsonObject => {
  const context = replyContext({ request: { ...plainRequest, stream: false } });
  const reply = foldReply(vendor(upstream).decodeReply(body, context));
  if (isFault(reply)) throw new Error(reply.message);
  return JSON.parse(JSON.stringify(clients[client].protocol.encodeReply(reply, context)));
};

const fill = (body: JsonObject, payload: string): JsonObject =>
  JSON.parse(JSON.stringify(body).replace('‹payload›', () => JSON.stringify(payload).slice(1, -1)));

/** Texts of all depths in a value. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

/** Payloads as vendors issue them, and with all that JSON escapes. */
const payloads = fc.oneof(
  fc.base64String({ minLength: 4, maxLength: 200 }),
  anyText({ minLength: 1, maxLength: 50 }).map((words) => `EqQ+/=\\"\u2028<>&${words}`),
);

for (const [upstream, body] of Object.entries(reasonedCall)) {
  for (const client of clientNames) {
    // A Messages call has no place for a payload: the gateway's memory brings it back, see R5.
    if (client === 'messages' && upstream === 'gemini') continue;
    test(`R4: a payload comes back to its vendor byte for byte: ${upstream} → ${client} → ${upstream}`, (t) => {
      fc.assert(
        fc.property(payloads, (payload) => {
          const reply = replyTo(client, upstream, fill(body, payload));
          const sent = send(client, upstream, nextTurn[client](reply), 'gemini-3-pro');
          t.true(textsIn(sent.body).includes(payload), sent.text);
        }),
        { numRuns: 50 },
      );
      t.pass();
    });

    for (const other of Object.keys(reasonedCall)) {
      if (other === upstream) continue;
      test(`R3: a payload isn't replayed to another vendor: ${upstream} → ${client} → ${other}`, (t) => {
        const payload = 'c2lnbmF0dXJlIGJ5dGVz';
        const reply = replyTo(client, upstream, fill(body, payload));
        const sent = send(client, other, nextTurn[client](reply), 'gemini-3-pro');
        t.false(sent.text.includes(payload) || sent.text.includes('sy1.'), sent.text);
        t.true(sent.losses.length > 0, 'what stays behind is recorded');
      });
    }
  }
}

/** The next turn over the gateway: a Gemini 3 that refuses calls without their signature. */
for (const client of clientNames) {
  test(`R5: Gemini 3 gets a call's signature back in the next turn: ${client}`, async (t) => {
    const payload = 'dGhvdWdodCBzaWduYXR1cmU=';
    const upstream = await startUpstream(() => jsonAnswer(fill(reasonedCall.gemini, payload)));
    t.teardown(() => upstream.close());
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['gemini-3-pro'] }],
      transformers: [{ name: 'gemini', provider: 'p' }],
    });
    t.teardown(() => gateway.stop());
    const post = async (body: JsonObject): Promise<JsonObject> => {
      const answer = await fetch(`${gateway.baseUrl}${clients[client].path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'p,gemini-3-pro', max_tokens: 4_000, ...body }),
      });
      t.is(answer.status, 200);
      return (await answer.json()) as JsonObject;
    };
    const first = client === 'responses' ? { input: 'go' } : { messages: [{ role: 'user', content: 'go' }] };
    await post(nextTurn[client](await post(first)));
    const sent = at(upstream.requests.at(-1)?.body, 'contents', 1, 'parts', 0);
    t.is(at(sent, 'functionCall', 'name'), 'f');
    t.is(at(sent, 'thoughtSignature'), payload);
  });
}

for (const [upstream, records] of Object.entries(thinkingStreams)) {
  test(`R6: the signature comes as one signature_delta, behind the thinking: ${upstream}`, (t) => {
    const { text: stream, facts } = hear(upstream, 'messages', records);
    const kinds = [...stream.matchAll(/"delta":\{"type":"(\w+)"/g)].map(([, kind]) => kind);
    t.is(kinds.filter((kind) => kind === 'signature_delta').length, 1);
    t.is(kinds.indexOf('signature_delta'), kinds.lastIndexOf('thinking_delta') + 1);
    t.true(facts.signatures.length === 1 && facts.signatures[0] !== '');
  });
}

const redactedTurn: JsonObject = {
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
        { type: 'text', text: 'Hello.' },
      ],
    },
    { role: 'user', content: 'on' },
  ],
};

test('R7: redacted thinking goes back to its vendor unchanged', (t) => {
  const { body } = send('messages', 'anthropic', redactedTurn);
  t.deepEqual(at(body, 'messages', 1, 'content', 0), { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' });
});

for (const upstream of ['openai', 'responses', 'gemini', 'deepseek', 'openrouter']) {
  test(`R7: redacted thinking stays behind toward others, and that is recorded: ${upstream}`, (t) => {
    const { text: sent, losses } = send('messages', upstream, redactedTurn);
    t.false(sent.includes('cmVkYWN0ZWQ='));
    t.true(losses.includes('messages[1].content[0]'), losses.join());
  });
}

test('R7: unsigned reasoning gets no fabricated signature for Anthropic: it is removed', (t) => {
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Hello.', reasoning_content: 'Hm' },
    { role: 'user', content: 'on' },
  ];
  const { body, losses } = send('chat', 'anthropic', { messages });
  t.deepEqual(at(body, 'messages', 1, 'content'), [{ type: 'text', text: 'Hello.' }]);
  t.deepEqual(losses, ['messages[1].reasoning_content']);
});

const reasonedHistory = (members: JsonObject): JsonObject => ({
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      ...members,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
  ],
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
});

test('R8: reasoning_content goes back on the message that called', (t) => {
  const { body } = send('chat', 'deepseek', reasonedHistory({ reasoning_content: 'Hm' }));
  t.is(at(body, 'messages', 1, 'reasoning_content'), 'Hm');
});

test('R8: reasoning_details go back unchanged and in order', (t) => {
  const details = [
    detail({ text: 'Hm', signature: 'c2ln' }),
    { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
  ];
  const { body } = send('chat', 'openrouter', reasonedHistory({ reasoning: 'Hm', reasoning_details: details }));
  t.deepEqual(at(body, 'messages', 1, 'reasoning_details'), details);
});

for (const client of ['messages', 'responses'] as const) {
  test(`R8: DeepSeek's reasoning comes back through a client of another protocol: ${client}`, (t) => {
    const answer = {
      id: 'x',
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'Hm, żółw.',
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    const { body } = send(client, 'deepseek', nextTurn[client](replyTo(client, 'deepseek', answer)));
    t.is(at(body, 'messages', 1, 'reasoning_content'), 'Hm, żółw.');
  });
}

const asksToThink: Readonly<Record<ClientName, JsonObject>> = {
  messages: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
  chat: { reasoning_effort: 'high' },
  responses: { reasoning: { effort: 'high' } },
};

for (const client of clientNames) {
  for (const [upstream, model, address] of [
    ['openai', 'gpt-4.1', 'https://api.openai.com/v1'],
    ['responses', 'gpt-4.1', 'https://api.openai.com/v1'],
    ['groq', 'llama-3.3-70b-versatile', undefined],
    ['gemini', 'gemini-2.0-flash', undefined],
  ] as const) {
    test(`R9: a model that can't think isn't asked to: ${client} → ${model} (${upstream})`, (t) => {
      const { body, losses } = send(client, upstream, asksToThink[client], model, address);
      const asked = [
        body.reasoning_effort,
        body.reasoning,
        body.thinking,
        at(body, 'generationConfig', 'thinkingConfig'),
        body.include,
      ];
      t.deepEqual(
        asked.filter((member) => member !== undefined),
        [],
      );
      t.true(losses.length > 0);
    });
  }
}

test('R1, R6: a call opens only after the reasoning’s signature', (t) => {
  const records = [role, chunk({ reasoning_content: 'Hm' }), begin(0, 'call_1', 'f', '{}'), finish('tool_calls'), done];
  const { events } = hear('deepseek', 'messages', records);
  t.deepEqual(events.map((event) => (event.type === 'block-start' ? event.block.type : event.type)).slice(1, -1), [
    'thinking',
    'thinking-delta',
    'signature-delta',
    'block-stop',
    'tool-call',
    'input-delta',
    'block-stop',
  ]);
});
