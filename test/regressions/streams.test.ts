import test from 'ava';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { recordingsOf } from '../support/upstreams/recordings.ts';
import { jsonAnswer, sseAnswer, type UpstreamAnswer } from '../support/upstreams/upstream.ts';
import { overGateway } from './over-gateway.ts';
import { type ClientName, clientNames, clients, hear, hearWhole, sse } from './rig.ts';
import {
  begin,
  block,
  callRecords,
  candidate,
  chatUsage,
  chunk,
  done,
  finish,
  message,
  more,
  response,
  role,
  text,
  toolUse,
} from './vendor-words.ts';

const textItem = (...deltas: string[]): JsonObject[] => {
  const whole = deltas.join('');
  const content = [{ type: 'output_text', text: whole, annotations: [] }];
  const place = { output_index: 0, content_index: 0 };
  return [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', content: [] } },
    ...deltas.map((delta): JsonObject => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text: whole },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1', content } },
  ];
};

/** A stream of the words `a` and `b`, in each vendor's words: all of it, and how many records come before its terminator. */
const words: Readonly<Record<string, { readonly records: readonly (string | JsonObject)[]; readonly cut: number }>> = {
  anthropic: { records: message([...text(0, 'a'), ...text(1, 'b')]), cut: 3 },
  openai: { records: [role, chunk({ content: 'a' }), chunk({ content: 'b' }), finish('stop'), done], cut: 2 },
  responses: { records: response(textItem('a', 'b')), cut: 3 },
  gemini: { records: [candidate([{ text: 'a' }]), candidate([{ text: 'b' }], 'STOP')], cut: 1 },
};

const asStream = (records: readonly (string | JsonObject)[]) => records.map(sse);

for (const [format, { records, cut }] of Object.entries(words)) {
  for (const end of ['end', 'close', 'reset'] as const) {
    test(`S1: an upstream that dies in mid-stream (${end}) is an error to every client: ${format}`, async (t) => {
      const pieces = [...asStream(records.slice(0, cut)), 20];
      await overGateway(
        t,
        format,
        () => sseAnswer(pieces, end),
        async ({ post }) => {
          for (const client of clientNames) {
            const got = await post(client, { stream: true });
            t.is(got.status, 200);
            t.true(got.text.includes('a'), 'what came before is delivered');
            const failed = { messages: 'event: error', chat: '"error":{', responses: '"type":"response.failed"' };
            t.true(got.text.includes(failed[client]), `${client}: ${got.text}`);
            t.false(/message_stop|\[DONE\]|response\.completed/.test(got.text), `${client}: ${got.text}`);
          }
        },
      );
    });
  }
}

const envelopes: Readonly<Record<string, JsonObject>> = {
  anthropic: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded, sorry' } },
  openai: { error: { message: 'Overloaded, sorry', type: 'server_error', code: 503 } },
  openrouter: { error: { message: 'Overloaded, sorry', code: 503 } },
  responses: { type: 'error', code: 'server_error', message: 'Overloaded, sorry', param: null },
  gemini: { error: { code: 503, message: 'Overloaded, sorry', status: 'UNAVAILABLE' } },
};

for (const [format, envelope] of Object.entries(envelopes)) {
  for (const client of clientNames) {
    test(`S2: an error inside a stream of status 200 is an error: ${format} → ${client}`, (t) => {
      const { facts } = hear(format, client, [envelope]);
      t.true(facts.error?.includes('Overloaded, sorry'), facts.error);
      t.is(facts.stop === '' || facts.stop === 'failed', true, facts.stop);
    });

    test(`S2: an error after the first content is an error: ${format} → ${client}`, (t) => {
      const { records, cut } = words[format === 'openrouter' ? 'openai' : format] ?? { records: [], cut: 0 };
      const { facts, text: stream } = hear(format, client, [...records.slice(0, cut), envelope]);
      t.is(textOf[client](stream), 'a');
      t.true(facts.error?.includes('Overloaded, sorry'), facts.error);
    });
  }
}

test('S2: over HTTP an error before the first word has a status of its own, and no empty success', async (t) => {
  for (const format of ['anthropic', 'openai', 'responses', 'gemini']) {
    const script = () => sseAnswer([sse(envelopes[format] ?? '')]);
    await overGateway(t, format, script, async ({ post }) => {
      for (const client of clientNames) {
        const got = await post(client, { stream: true });
        t.true(got.text.includes('Overloaded, sorry'), `${format} → ${client}: ${got.text}`);
        t.false(/message_stop|\[DONE\]|response\.completed/.test(got.text));
      }
    });
  }
});

test('S3: an upstream error becomes response.failed for a Responses client', (t) => {
  for (const [format, envelope] of Object.entries(envelopes)) {
    const { text: stream } = hear(format, 'responses', [envelope]);
    const last = stream.trimEnd().split('\n\n').at(-1) ?? '';
    t.true(last.startsWith('event: response.failed\n'), last);
  }
});

const odd = 'żółw 🐢 „ok” \u2028 ę';

for (const [format, records] of [
  ['anthropic', message([...text(0, odd), ...toolUse(1, 'toolu_1', 'f', JSON.stringify({ q: odd }))], 'tool_use')],
  [
    'openai',
    [role, chunk({ content: odd }), begin(0, 'call_1', 'f', JSON.stringify({ q: odd })), finish('tool_calls'), done],
  ],
  ['responses', response([...textItem(odd), ...callRecords(1, 'call_1', 'f', JSON.stringify({ q: odd }), 'delta')])],
  ['gemini', [candidate([{ text: odd }, { functionCall: { name: 'f', args: { q: odd } } }], 'STOP')]],
] as const) {
  test(`S4: characters cut between chunks stay whole, in text and in arguments: ${format}`, async (t) => {
    const bytes = Buffer.from(asStream(records).join(''));
    // Cuts every two-byte character somewhere, whatever its place.
    const pieces = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, at) => bytes.subarray(at * 5, at * 5 + 5));
    const script = (): UpstreamAnswer => sseAnswer(pieces);
    await overGateway(t, format, script, async ({ post }) => {
      for (const client of clientNames) {
        const { text: stream } = await post(client, { stream: true });
        if (client === wireOf[format]) {
          t.is(stream, bytes.toString(), 'untouched');
          continue;
        }
        const facts = clients[client].readStream(stream);
        t.is(facts.text, odd, client);
        t.deepEqual(
          facts.toolCalls.map(({ input }) => input),
          [{ q: odd }],
          client,
        );
      }
    });
  });
}

const textBlock = /"content_block":\{"type":"text"|output_text/;

const toolStops = { messages: 'tool_use', chat: 'tool_calls', responses: 'completed' };

for (const client of clientNames) {
  test(`S5: a call makes the answer end as one, whatever the vendor's word: ${client}`, (t) => {
    const call = begin(0, 'call_1', 'f', '{}');
    for (const word of ['stop', 'tool_calls', 'function_call']) {
      t.is(hear('openai', client, [role, call, finish(word), done]).facts.stop, toolStops[client], word);
    }
    t.is(
      hear('anthropic', client, message(toolUse(0, 'toolu_1', 'f', '{}'), 'end_turn')).facts.stop,
      toolStops[client],
    );
    const gemini = [candidate([{ functionCall: { name: 'f', args: {} } }]), candidate([{ text: '' }], 'STOP')];
    t.is(hear('gemini', client, gemini).facts.stop, toolStops[client]);
  });

  test(`S6: a repeated end is one end, and no block stops twice: ${client}`, (t) => {
    const twice = [role, chunk({ content: 'a' }), finish('stop'), finish('stop'), chunk({ content: '' }, 'stop'), done];
    // The reader refuses a second end, and a block that stops twice.
    t.is(hear('openai', client, twice).facts.text, 'a');
    const call = [role, begin(0, 'c', 'f', '{}'), finish('tool_calls'), finish('stop'), done];
    t.is(hear('openrouter', client, call).facts.stop, toolStops[client]);
  });

  test(`S7: no empty block precedes the first content: ${client}`, (t) => {
    const nothing = chunk({ content: '' });
    const call = begin(0, 'call_1', 'f', '{}');
    const { events, text: stream } = hear('openai', client, [role, nothing, nothing, call, finish('tool_calls'), done]);
    t.deepEqual(
      events.flatMap((event) => (event.type === 'block-start' ? event.block.type : [])),
      ['tool-call'],
    );
    t.notRegex(stream, textBlock);
    const claude = message([...block(0, { type: 'text', text: '' }), ...toolUse(1, 'toolu_1', 'f', '{}')], 'tool_use');
    t.notRegex(hear('anthropic', client, claude).text, textBlock);
    const gemini = [candidate([{ text: '' }, { functionCall: { name: 'f', args: {} } }], 'STOP')];
    t.notRegex(hear('gemini', client, gemini).text, textBlock);
  });

  test(`S8: an answer that never says why it ends is an error: ${client}`, (t) => {
    t.truthy(hear('openai', client, [role, chunk({ content: 'a' })]).facts.error);
    t.truthy(hear('gemini', client, [candidate([{ text: 'a' }])]).facts.error);
    t.truthy(hear('anthropic', client, message(text(0, 'a')).slice(0, -2)).facts.error);
    t.truthy(hear('responses', client, response(textItem('a')).slice(0, -1)).facts.error);
  });
}

for (const [cause, expected, answers] of [
  [
    'length',
    'max_output_tokens',
    {
      openai: [role, chunk({ content: 'a' }), finish('length'), done],
      anthropic: message(text(0, 'a'), 'max_tokens'),
      gemini: [candidate([{ text: 'a' }], 'MAX_TOKENS')],
    },
  ],
  [
    'a filter',
    'content_filter',
    {
      openai: [role, chunk({ content: 'a' }), finish('content_filter'), done],
      gemini: [candidate([{ text: 'a' }], 'SAFETY')],
    },
  ],
] as const) {
  for (const [format, records] of Object.entries(answers)) {
    test(`S8: cut by ${cause}, a Responses answer is incomplete and says so: ${format}`, (t) => {
      const { facts, text: stream } = hear(format, 'responses', records);
      t.is(facts.stop, expected);
      t.true(stream.includes('event: response.incomplete\n'));
      t.false(stream.includes('response.completed'));
    });
  }
}

for (const client of clientNames) {
  test(`S9: records after [DONE], comments and unknown frames are ignored: ${client}`, async (t) => {
    const pieces = [
      ': OPENROUTER PROCESSING\n\n',
      sse(role),
      ': keep-alive\n\n:\n\n',
      'event: ping\ndata: {}\n\n',
      sse(chunk({ content: 'a' })),
      'retry: 3000\n\n',
      'id: 7\n',
      sse(finish('stop')),
      sse(chatUsage({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })),
      sse(done),
      sse(chunk({ content: 'late' })),
      'data: not json\n\n',
      sse(done),
    ];
    await overGateway(
      t,
      'openrouter',
      () => sseAnswer([pieces.join('')]),
      async ({ post }) => {
        const got = await post(client, { stream: true });
        if (client === 'chat') {
          t.true(
            got.text.startsWith(': OPENROUTER PROCESSING'),
            'untouched on the way to a client of the same protocol',
          );
          return;
        }
        const facts = clients[client].readStream(got.text);
        t.deepEqual([facts.text, facts.error], ['a', undefined]);
      },
    );
  });
}

/** Streams in which vendors tell the same text twice. */
const told: readonly (readonly [title: string, format: string, records: readonly (string | JsonObject)[]])[] = [
  ['deltas and then the whole', 'responses', response(textItem('a', 'b'))],
  [
    'the reply repeated at the end',
    'responses',
    response(textItem('a', 'b'), {
      output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'ab', annotations: [] }] }],
    }),
  ],
  [
    'reasoning under two names',
    'openrouter',
    [
      role,
      chunk({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', format: 'x', index: 0 }] }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      finish('stop'),
      done,
    ],
  ],
  [
    'reasoning in both plain members',
    'openai',
    [
      role,
      chunk({ reasoning: 'hm', reasoning_content: 'hm' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      finish('stop'),
      done,
    ],
  ],
];
for (const [title, format, records] of told) {
  for (const client of clientNames) {
    test(`S10: nothing is repeated: ${title} → ${client}`, (t) => {
      const { facts } = hear(format, client, records);
      t.is(facts.text, 'ab');
      t.true(['', 'hm'].includes(facts.reasoning), facts.reasoning);
    });
  }
}

test('S10: each token once, through the gateway', async (t) => {
  for (const [format, { records }] of Object.entries(words)) {
    const script = () => sseAnswer(asStream(records));
    await overGateway(t, format, script, async ({ post }) => {
      for (const client of clientNames) {
        const { text: stream } = await post(client, { stream: true });
        // As vendors write it, a relayed stream keeps to less than the strict grammar.
        const heard = client === wireOf[format] ? textOf[client](stream) : clients[client].readStream(stream).text;
        t.is(heard, 'ab', `${format} → ${client}`);
      }
    });
  }
});

const wireOf: Readonly<Record<string, ClientName>> = { anthropic: 'messages', openai: 'chat', responses: 'responses' };

const deltas = (stream: string, pattern: RegExp): string =>
  [...stream.matchAll(pattern)].map(([, piece]) => piece).join('');

const textOf: Readonly<Record<ClientName, (stream: string) => string>> = {
  messages: (stream) => deltas(stream, /"type":"text_delta","text":"(\w+)"/g),
  chat: (stream) => deltas(stream, /"content":"(\w+)"/g),
  responses: (stream) => deltas(stream, /"delta":"(\w+)"/g),
};

/** Why answers end: the vendor's word, and each client's. */
const endings: readonly (readonly [
  format: string,
  word: string,
  stops: Readonly<Record<ClientName, string>>,
  records: readonly (string | JsonObject)[],
])[] = [
  ...[
    ['refusal', 'refusal', 'content_filter', 'content_filter'],
    ['pause_turn', 'pause_turn', 'stop', 'completed'],
    ['model_context_window_exceeded', 'model_context_window_exceeded', 'length', 'max_output_tokens'],
    ['max_tokens', 'max_tokens', 'length', 'max_output_tokens'],
    ['stop_sequence', 'stop_sequence', 'stop', 'completed'],
  ].map(
    ([word = '', messages = '', chat = '', responses = '']) =>
      ['anthropic', word, { messages, chat, responses }, message(text(0, 'a'), word)] as const,
  ),
  ...['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII'].map(
    (word) =>
      [
        'gemini',
        word,
        { messages: 'refusal', chat: 'content_filter', responses: 'content_filter' },
        [candidate([{ text: 'a' }], word)],
      ] as const,
  ),
  [
    'openai',
    'content_filter',
    { messages: 'refusal', chat: 'content_filter', responses: 'content_filter' },
    [role, chunk({ content: 'a' }), finish('content_filter'), done],
  ],
];
for (const [format, word, stops, records] of endings) {
  for (const client of clientNames) {
    test(`S11: ${word} isn't taken for an ordinary end: ${format} → ${client}`, (t) => {
      t.is(hear(format, client, records).facts.stop, stops[client]);
    });
  }
}

test('S11: a refusal as text reaches every client', (t) => {
  const records = [role, chunk({ refusal: 'I can’t ' }), chunk({ refusal: 'do that.' }), finish('stop'), done];
  for (const client of clientNames) {
    const { facts } = hear('openai', client, records);
    t.is(facts.refusal + facts.text, 'I can’t do that.', client);
  }
});

for (const [format, reply, error] of [
  [
    'openai',
    {
      id: 'x',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop' }],
    },
    { error: { message: 'No luck', type: 'server_error' } },
  ],
  [
    'anthropic',
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'ab' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    { type: 'error', error: { type: 'api_error', message: 'No luck' } },
  ],
] as const) {
  for (const client of clientNames) {
    test(`S12: a JSON reply to a streamed request is a stream to the client: ${format} → ${client}`, async (t) => {
      await overGateway(
        t,
        format,
        () => jsonAnswer(reply),
        async ({ post }) => {
          const got = await post(client, { stream: true });
          t.is(clients[client].readStream(got.text).text, 'ab');
        },
      );
    });

    test(`S12: a JSON error with status 200 to a streamed request is an error: ${format} → ${client}`, async (t) => {
      await overGateway(
        t,
        format,
        () => jsonAnswer(error),
        async ({ post }) => {
          const got = await post(client, { stream: true });
          t.true(got.text.includes('No luck'), got.text);
          t.false(/message_stop|\[DONE\]|response\.completed/.test(got.text));
        },
      );
    });

    test(`S12: a streamed reply to a request for a whole one is a whole one: ${format} → ${client}`, async (t) => {
      const { records } = words[format] ?? { records: [] };
      await overGateway(
        t,
        format,
        () => sseAnswer(asStream(records)),
        async ({ post }) => {
          const got = await post(client);
          t.is(got.status, 200);
          t.is(clients[client].readReply(JSON.parse(got.text)).text, 'ab');
        },
      );
    });
  }
}

test('S12: an error status with a body other than SSE keeps its status and shape', async (t) => {
  const answer = jsonAnswer({ error: { message: 'Too many', type: 'rate_limit' } }, 429);
  await overGateway(
    t,
    'openai',
    () => answer,
    async ({ post }) => {
      for (const client of clientNames) {
        const got = await post(client, { stream: true });
        t.is(got.status, 429, client);
        t.regex(got.text, /"error":\{.*Too many/);
      }
    },
  );
});

test('S4, S10: recorded streams with unusual characters arrive once and complete', (t) => {
  const recordings = recordingsOf('anthropic').filter(({ name, streamed }) => streamed && /utf8|emoji/.test(name));
  t.true(recordings.length > 0);
  for (const { bytes, expected } of recordings) {
    const stream = bytes.toString();
    const data = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '{}']): JsonObject => JSON.parse(json));
    for (const client of clientNames) t.is(hear('anthropic', client, data).facts.text, expected.text, client);
  }
});

test('S5, S8: whole replies end as streams do', (t) => {
  const body = (finish_reason: string | null, tool_calls?: JsonObject[]): JsonObject => ({
    id: 'x',
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'a', ...(tool_calls && { tool_calls }) }, finish_reason },
    ],
  });
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  for (const client of clientNames) t.is(hearWhole('openai', client, body('stop', [call])).stop, toolStops[client]);
  t.is(hearWhole('openai', 'responses', body('length')).stop, 'max_output_tokens');
  t.is(hearWhole('openai', 'messages', body('content_filter')).stop, 'refusal');
});

test('S6: more of a closed call is nothing', (t) => {
  const records = [role, begin(0, 'c', 'f', '{}'), chunk({ content: 'a' }), finish('tool_calls'), more(0, ''), done];
  t.is(hear('openai', 'messages', records).facts.toolCalls.length, 1);
});

test("an upstream's id stays if it is one of the client's protocol; the prefix alone is none", (t) => {
  const prefixes: Readonly<Record<ClientName, string>> = { messages: 'msg_', chat: 'chatcmpl-', responses: 'resp_' };
  const idFor = (client: ClientName, id: string) =>
    hearWhole('openai', client, {
      id,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    }).body.id;
  for (const client of clientNames) {
    const prefix = prefixes[client];
    for (const id of [`${prefix}1`, `${prefix}\uFEFF1`]) t.is(idFor(client, id), id, client);
    for (const id of ['', prefix, '1']) t.regex(String(idFor(client, id)), new RegExp(`^${prefix}\\w+$`), client);
  }
});

for (const [format, citation, body] of [
  [
    'openai',
    (place: JsonObject) => ({
      type: 'url_citation',
      url_citation: { url: 'https://u.example/', title: 't', ...place },
    }),
    (annotation: JsonObject): JsonObject => ({
      id: 'x',
      model: 'm',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'abc', annotations: [annotation] }, finish_reason: 'stop' },
      ],
    }),
  ],
  [
    'responses',
    (place: JsonObject) => ({ type: 'url_citation', url: 'https://u.example/', title: 't', ...place }),
    (annotation: JsonObject): JsonObject => ({
      id: 'resp_1',
      model: 'm',
      status: 'completed',
      output: [
        { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'abc', annotations: [annotation] }] },
      ],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    }),
  ],
] as const) {
  test(`a source that ends before it starts has no position in another format: ${format}`, (t) => {
    const client = format === 'openai' ? 'responses' : 'chat';
    const places = (start_index: number, end_index: number) => {
      const reply = hearWhole(format, client, body(citation({ start_index, end_index }))).body;
      return [...JSON.stringify(reply).matchAll(/"((?:start|end)_index":\d+)/g)].map(([, place]) => place);
    };
    t.deepEqual(places(1, 2), ['start_index":1', 'end_index":2']);
    t.deepEqual(places(2, 1), ['start_index":0', 'end_index":3']);
  });
}
