import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';
import { jsonAnswer, recordedAnswer, type Script, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** Same format on both sides: what the client sends and gets are the vendor's own bytes. */
const wires = [
  { path: '/v1/messages', format: 'anthropic', recordings: 'anthropic' },
  { path: '/v1/chat/completions', format: 'openai', recordings: 'openai-chat' },
] as const;

const withUpstream = async (
  format: string,
  script: Script,
  use: (post: (path: string, body: string) => Promise<Got>, seen: () => string) => Promise<void>,
  more: object = {},
): Promise<void> => {
  const upstream = await startUpstream(script);
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: format, provider: 'p' }],
    ...more,
  });
  const post = async (path: string, body: string): Promise<Got> => {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, bytes };
  };
  try {
    await use(post, () => upstream.requests.at(-1)?.text ?? '');
  } finally {
    await gateway.stop();
    await upstream.close();
  }
};

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

const asking = (stream: boolean): string =>
  `{ "model":"p,m" , "stream" : ${stream}, ${stream ? '"stream_options":{"include_usage":true}, ' : ''}"max_tokens":16, "messages": [ {"role":"user","content":"h\\u00e9 \\ud83d\\udc22"} ],\n "unknown_field":{"big":12345678901234567890, "e":1e3} }`;

for (const { path, format, recordings } of wires) {
  test(`${path} → ${format}: recorded answers pass byte for byte, requests but for the model`, async (t) => {
    const all = recordingsOf(recordings).filter(({ status, expected }) => status === 200 && !expected.error);
    let current = all[0];
    const script: Script = () => {
      const { name, streamed } = current ?? { name: '', streamed: false };
      return recordedAnswer(`${recordings}/${name}.${streamed ? 'sse' : 'json'}`, 701);
    };
    await withUpstream(format, script, async (post, seen) => {
      for (current of all) {
        const got = await post(path, asking(current.streamed));
        t.is(got.status, 200, current.name);
        t.true(got.bytes.equals(current.bytes), current.name);
        t.is(got.headers['x-junctor-route'], 'p,m;explicit');
        t.is(seen(), asking(current.streamed).replace('"p,m"', '"m"'));
      }
    });
  });

  test(`${path} → ${format}: a body whose model stays the same is sent as it came, but for a byte order mark`, async (t) => {
    const script: Script = () => recordedAnswer(`${recordings}/${whole?.name}.json`);
    const [whole] = recordingsOf(recordings).filter(({ status, streamed }) => status === 200 && !streamed);
    await withUpstream(format, script, async (post, seen) => {
      const body = asking(false).replace('"p,m"', '"m"');
      for (const mark of ['', '\ufeff']) {
        const got = await post(path, mark + body);
        t.is(got.headers['x-junctor-route'], 'p,m;model');
        t.is(seen(), body);
      }
    });
  });

  test(`${path} → ${format}: a stage that changes only requests leaves answers unchanged`, async (t) => {
    const [recording] = recordingsOf(recordings).filter(({ streamed }) => streamed);
    const stage = [
      { name: format, provider: 'p' },
      { name: 'maxtoken', options: { max_tokens: 7 } },
    ];
    const script: Script = () => recordedAnswer(`${recordings}/${recording?.name}.sse`, 97);
    await withUpstream(
      format,
      script,
      async (post, seen) => {
        const got = await post(path, asking(true));
        t.true(recording && got.bytes.equals(recording.bytes));
        const sent: unknown = JSON.parse(seen());
        t.like(sent, { model: 'm', max_tokens: 7, stream: true, unknown_field: { e: 1000 } });
        t.is(got.headers['x-junctor-loss'], 'approximated: max_tokens');
      },
      { transformers: stage },
    );
  });
}

const ends: readonly (readonly [path: string, format: string, begun: string, half: string, broken: RegExp])[] = [
  [
    '/v1/messages',
    'anthropic',
    'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    'event: ping\nda',
    /^event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]+"\}.*\}\n\n$/,
  ],
  [
    '/v1/chat/completions',
    'openai',
    'data: {"id":"c","choices":[]}\n\n',
    'data: {"id":',
    /^data: \{"error":\{"message":"[^"]+".*\}\}\n\n$/,
  ],
];

for (const [path, format, begun, half, broken] of ends) {
  for (const then of ['end', 'reset'] as const) {
    test(`${path} → ${format}: a relayed stream that breaks off inside a record (${then}) loses that record and ends in one error`, async (t) => {
      await withUpstream(
        format,
        () => sseAnswer([begun.slice(0, 5), begun.slice(5) + half], then),
        async (post) => {
          const text = (await post(path, asking(true))).bytes.toString();
          t.is(text.slice(0, begun.length), begun);
          t.regex(text.slice(begun.length), broken);
          t.is(text.match(/"error":\{/g)?.length, 1);
        },
      );
    });
  }

  test(`${path} → ${format}: an error with a success status is an error`, async (t) => {
    await withUpstream(
      format,
      () => jsonAnswer({ error: { message: 'out of luck', code: 500 } }),
      async (post) => {
        const got = await post(path, asking(false));
        t.true(got.status >= 500, String(got.status));
        t.regex(got.bytes.toString(), /out of luck/);
      },
    );
  });
}

const responses = { transformers: [{ name: 'openai', provider: 'p', options: { api: 'responses' } }] };
const completed = (text: string): string =>
  `event: response.completed\ndata: {"type":"response.completed","response":{"output":"${text}"}}\n\n`;

const complete: readonly (readonly [title: string, pieces: readonly string[], dropped?: number])[] = [
  ['that is all there is', [completed('')]],
  ['amid a chunk', [`: hi\n\n${completed('')}: bye\n\n`], 7],
  ['cut in two', [`: hi\n\n${completed('').slice(0, 20)}`, completed('').slice(20)]],
  ['of some length', [': hi\n\n'.repeat(2000), completed('long '.repeat(30_000))]],
  [
    'of some length, and more behind it',
    [': hi\n\n', completed('long '.repeat(30_000)), 'data: [DONE]\n\n', ': bye\n\n'],
    21,
  ],
  ['longer than what is held back of a stream', [': hi\n\n', completed('long '.repeat(600_000))]],
];
const asksResponses = JSON.stringify({ model: 'p,m', stream: true, input: 'hi' });
for (const [title, pieces, dropped = 0] of complete) {
  // A reset overtakes what is unread of a long answer.
  const endings =
    pieces.join('').length > 1_000_000 ? (['end', 'stall'] as const) : (['end', 'stall', 'reset'] as const);
  for (const then of endings) {
    test(`a relayed stream is complete with an end ${title}, whatever happens to its connection (${then})`, async (t) => {
      await withUpstream(
        'openai',
        () => sseAnswer(pieces, then),
        async (post) => {
          const { bytes } = await post('/v1/responses', asksResponses);
          const whole = pieces.join('');
          t.is(bytes.toString(), whole.slice(0, whole.length - dropped));
        },
        responses,
      );
    });
  }
}

test('a relayed record that is too long to be held passes in pieces, and an error may cut it', async (t) => {
  const long = `data: {"type":"response.output_text.delta","delta":"${'long '.repeat(300_000)}`;
  await withUpstream(
    'openai',
    () => sseAnswer([': hi\n\n', long], 'close'),
    async (post) => {
      const text = (await post('/v1/responses', asksResponses)).bytes.toString();
      t.true(text.startsWith(`: hi\n\n${long}`));
      t.regex(text.slice(long.length + 6), /^\n\nevent: error\ndata: .*\n\nevent: response\.failed\ndata: .*\n\n$/);
    },
    responses,
  );
});

test('a relayed chat stream that closes after its finish gets the missing [DONE]', async (t) => {
  const finish = 'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
  await withUpstream(
    'openai',
    () => sseAnswer([finish]),
    async (post) => {
      t.is((await post('/v1/chat/completions', asking(true))).bytes.toString(), `${finish}data: [DONE]\n\n`);
    },
  );
});

const event = (type: string, number: number, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...more })}\n\n`;

const identity = { id: 'resp_own', created_at: 7, model: 'own' };
const own = { ...identity, object: 'response', status: 'in_progress', output: [] };
const begun = [
  event('response.created', 0, { response: own }),
  event('response.in_progress', 1, { response: own }),
  event('response.output_text.delta', 2, { item_id: 'i', output_index: 0, content_index: 0, delta: 'Hi' }),
];

interface ResponsesEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response?: { readonly id: string };
}

/** The events of a stream; comments left out. */
const eventsIn = (text: string): readonly ResponsesEvent[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));

for (const [where, half] of [
  ['between records', []],
  ['inside a record', ['event: response.output_text.delta\ndata: {"type":"resp']],
] as const) {
  test(`a Responses stream that breaks off ${where} keeps its answer's identity and counts on`, async (t) => {
    // Pauses keep network chunks apart: the first and the last record are remembered by their chunks.
    const pieces = [...begun.flatMap((record) => [record, 5]), ...half];
    await withUpstream(
      'openai',
      () => sseAnswer(pieces, 'close'),
      async (post) => {
        const text = (await post('/v1/responses', asksResponses)).bytes.toString();
        t.is(text.slice(0, begun.join('').length), begun.join(''));
        const [error, failed, ...more] = eventsIn(text.slice(begun.join('').length));
        t.like(error, { type: 'error', sequence_number: 3 });
        t.like(failed, { type: 'response.failed', sequence_number: 4, response: identity });
        t.deepEqual(more, []);
      },
      responses,
    );
  });
}

const silences = [
  ['relayed', 'responses', begun, [event('response.completed', 3, { response: { ...own, status: 'completed' } })]],
  ['converted', 'chat', [...chatStream(['Hi'])].slice(0, 1), [...chatStream(['Hi'])].slice(2)],
] as const;
for (const [title, api, start, rest] of silences) {
  test(`a ${title} Responses stream repeats response.in_progress while its upstream is silent, and is whole`, async (t) => {
    const progress = (text: string) => eventsIn(text).filter(({ type }) => type === 'response.in_progress');
    let text = '';
    const upstream = await startUpstream(() =>
      sseAnswer(
        (async function* () {
          yield* start;
          await until(() => progress(text).length >= 3);
          yield* rest;
        })(),
      ),
    );
    t.teardown(() => upstream.close());
    const config = {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'openai', provider: 'p', options: { api } }],
    };
    const gateway = await startGateway(config, {}, { keepAliveMs: 10 });
    t.teardown(() => gateway.stop());
    const { body } = await request(`${gateway.baseUrl}/v1/responses`, { method: 'POST', body: asksResponses });
    for await (const chunk of body.setEncoding('utf8')) text += chunk;
    const events = eventsIn(text);
    const ids = new Set(events.flatMap(({ response }) => response?.id ?? []));
    t.is(ids.size, 1);
    if (api === 'responses') t.true(ids.has(identity.id));
    t.is(events.at(-1)?.type, 'response.completed');
    const numbers = events.map(({ sequence_number }) => sequence_number);
    t.deepEqual(
      numbers,
      [...numbers].sort((one, other) => one - other),
    );
  });
}
