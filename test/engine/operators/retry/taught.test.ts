import test from 'ava';
import type { Explanation, UpstreamRow } from '../../../../admin/schema.ts';
import type { Script, UpstreamAnswer } from '../../../support/upstreams/upstream.ts';
import { begun, failing, good, goodChat, rig } from './rig.ts';

/** Refuses a request with these words. */
const refusing = (message: string, more: object = {}, status = 400) => ({
  status,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: status, ...more } })],
});

/** A chat host that refuses bodies with any of these members. */
const without =
  (...names: readonly string[]): Script =>
  (asked) => {
    const refused = names.find((name) => Object.hasOwn(Object(asked.body), name));
    return refused === undefined
      ? goodChat()(asked)
      : refusing(`Unsupported parameter: '${refused}' is not supported with this model.`, { param: refused });
  };

const bodies = (requests: readonly { readonly body: unknown }[], name: string) =>
  requests.map(({ body }) => Object(body)[name]);

/** An own vLLM with a window of so many tokens. */
const vllmOf =
  (window: number, text?: string): Script =>
  (asked) => {
    const { max_tokens: max, messages } = Object(asked.body);
    const prompt = Math.ceil(JSON.stringify(messages).length / 5);
    if (prompt + max <= window) return goodChat(text)(asked);
    return refusing(
      `This model's maximum context length is ${window} tokens. However, you requested ${prompt + max} tokens (${prompt} in the messages, ${max} in the completion). Please reduce the length of the messages or completion.`,
    );
  };

const vllm = vllmOf(32_768);

test('an output limit is fitted by the refusal, once, and remembered', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'] });
  const first = await ask({ max_tokens: 128_000 });
  t.is(first.status, 200, first.text);
  t.regex(String(first.headers['x-junctor-loss']), /max_tokens/);
  t.is(upstreams[0]?.requests.length, 2);
  const second = await ask({ max_tokens: 128_000, messages: [{ role: 'user', content: 'hi '.repeat(2_000) }] });
  t.is(second.status, 200, second.text);
  t.is(upstreams[0]?.requests.length, 3);
  t.is((await ask({ max_tokens: 100 })).status, 200);
  t.is(bodies(upstreams[0]?.requests ?? [], 'max_tokens')[3], 100);
});

test('an input that does not fit is an overflow', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'] });
  const { status, text } = await ask({ max_tokens: 8, messages: [{ role: 'user', content: 'hi '.repeat(70_000) }] });
  t.is(status, 400);
  t.regex(text, /prompt is too long/);
  t.is(upstreams[0]?.requests.length, 1);
});

test('a known window fits the limit before anything is sent', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], {
    formats: ['openai'],
    providers: [{ models: [{ name: 'm', context: 32_768 }] }],
  });
  t.is((await ask({ max_tokens: 128_000 })).status, 200);
  t.is(upstreams[0]?.requests.length, 1);
});

test('without learning, a refused output limit is no overflow', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'], providers: [{ learn: false }] });
  const { status, text } = await ask({ max_tokens: 128_000 });
  t.is(status, 400);
  t.notRegex(text, /prompt is too long/);
  t.is(upstreams[0]?.requests.length, 1);
});

test('a refusal teaches: one more try, a loss, and no further refusal', async (t) => {
  const { ask, upstreams } = await rig(t, [without('temperature')], { formats: ['openai'] });
  const { status, headers, text } = await ask({ temperature: 0.3 });
  t.is(status, 200, text);
  t.regex(String(headers['x-junctor-loss']), /temperature/);
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined, undefined]);
});

test('a relayed request is taught as well; others pass as they came', async (t) => {
  const refuses: Script = (asked) =>
    Object(asked.body).top_k === undefined ? good()(asked) : refusing('top_k: Extra inputs are not permitted');
  const { ask, upstreams } = await rig(t, [refuses]);
  const { status, text } = await ask({ top_k: 5, 'x-own': 1.0 });
  t.is(status, 200, text);
  t.is((await ask({ 'x-own': 1 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'top_k'), [5, undefined, undefined]);
});

test('a host that refuses everything in turn: one more try, then its words', async (t) => {
  const { ask, upstreams } = await rig(t, [without('temperature', 'top_p', 'stop')], { formats: ['openai'] });
  const asked = { temperature: 0.3, top_p: 0.5, stop_sequences: ['x'] };
  const first = await ask(asked);
  t.is(first.status, 400);
  t.regex(first.text, /top_p/);
  t.is(upstreams[0]?.requests.length, 2);
  // The second refusal isn't lost.
  t.is((await ask(asked)).status, 200);
  t.is(upstreams[0]?.requests.length, 4);
});

test('a refusal of turns, of tools or of what was not sent is passed on', async (t) => {
  for (const [message, param] of [
    ['messages.0.content: Extra inputs are not permitted', 'messages.0.content'],
    ['Unsupported parameter: tools', 'tools'],
    ["Unsupported parameter: 'logit_bias'", 'logit_bias'],
    ["The model 'm' does not support temperature", 'model'],
  ]) {
    const { ask, upstreams } = await rig(t, [() => refusing(message ?? '', { param })], { formats: ['openai'] });
    const { status } = await ask({ temperature: 0.3, tools: [{ name: 'f', input_schema: { type: 'object' } }] });
    t.is(status, 400);
    t.is(upstreams[0]?.requests.length, 1, message);
  }
});

test('a host that changes its mind gets the field back', async (t) => {
  let turned = false;
  const mind: Script = (asked) => {
    const isSent = Object.hasOwn(Object(asked.body), 'temperature');
    if (isSent === turned) return goodChat()(asked);
    return turned
      ? refusing('temperature: Field required', { param: 'temperature' })
      : refusing("Unsupported parameter: 'temperature'", { param: 'temperature' });
  };
  const { ask, upstreams } = await rig(t, [mind], { formats: ['openai'] });
  t.is((await ask({ temperature: 0.3 })).status, 200);
  turned = true;
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined, undefined, 0.3, 0.3]);
});

test('the same words again: nothing is kept', async (t) => {
  const refuses: Script = () => refusing("Unsupported parameter: 'temperature'", { param: 'temperature' });
  const { ask, upstreams } = await rig(t, [refuses], { formats: ['openai'] });
  for (const calls of [2, 4]) {
    t.is((await ask({ temperature: 0.3 })).status, 400);
    t.is(upstreams[0]?.requests.length, calls);
  }
});

test('a prompt too long for a model is tried where the window is larger, and stays one error elsewhere', async (t) => {
  const small: Script = () => refusing('prompt is too long: 40000 tokens > 32768 maximum');
  const larger = { models: [{ name: 'm', context: 200_000 }] };
  const smaller = { models: [{ name: 'm', context: 32_768 }] };
  const found = await rig(t, [small, good(), good()], { providers: [smaller, smaller, larger] });
  const { status, text } = await found.ask();
  t.is(status, 200, text);
  t.deepEqual(
    found.upstreams.map(({ requests }) => requests.length),
    [1, 0, 1],
  );
  const none = await rig(t, [small, good()], { providers: [smaller, smaller] });
  t.regex((await none.ask()).text, /prompt is too long/);
  t.deepEqual(
    none.upstreams.map(({ requests }) => requests.length),
    [1, 0],
  );
});

const long = { max_tokens: 128_000, messages: [{ role: 'user', content: 'hi '.repeat(70_000) }] };

test('an output limit and then a prompt that do not fit lead to the pool member with a larger window', async (t) => {
  const larger = { models: [{ name: 'm', context: 400_000 }] };
  const { ask, upstreams } = await rig(t, [vllm, vllm, vllmOf(400_000, 'large')], {
    formats: ['openai', 'openai', 'openai'],
    providers: [{}, {}, larger],
    config: {
      Pools: [
        {
          name: 'all',
          strategy: 'weighted',
          members: ['a,m', 'b,m', 'c,m'].map((to, at) => ({ to, weight: at < 2 ? 1_000 : 1 })),
        },
      ],
      Router: { default: 'all' },
    },
  });
  const asked = () => upstreams.map(({ requests }) => requests.length);
  // It fits all of them: whichever is asked fits the limit to its window.
  t.is((await ask({ max_tokens: 128_000 })).status, 200);
  for (let count = 0; count < 4; count += 1) {
    const before = asked();
    const { status, text, headers } = await ask(long);
    t.is(status, 200, text);
    t.regex(text, /large/);
    t.is(headers['x-junctor-route'], 'c,m;default');
    const calls = asked().map((now, at) => now - (before[at] ?? 0));
    t.true((calls[0] ?? 0) + (calls[1] ?? 0) <= 1, `a member with the same window isn't asked: ${calls}`);
    t.is(calls[2], 1);
  }
});

test('a window that a refusal has told is a known one', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm, vllmOf(131_072, 'large')], { formats: ['openai', 'openai'] });
  const asked = () => upstreams.map(({ requests }) => requests.length);
  t.is((await ask(long)).status, 400);
  t.deepEqual(asked(), [1, 0], 'nothing is known of the other');
  t.is((await ask({ model: 'b,m', max_tokens: 200_000 })).status, 200);
  t.deepEqual(asked(), [1, 2]);
  const { status, text } = await ask(long);
  t.is(status, 200, text);
  t.regex(text, /large/);
  t.deepEqual(asked(), [2, 3], 'its output limit is fitted at once');
});

/** What the first provider's refusals have taught. */
const taughtIn = async ({ get }: Pick<Awaited<ReturnType<typeof rig>>, 'get'>) => {
  const { upstreams } = await get<{ upstreams: readonly UpstreamRow[] }>('/api/upstreams');
  return upstreams[0]?.taught ?? [];
};

test('explain and the upstreams show what was taught, until it is forgotten', async (t) => {
  let nowMs = Date.parse('2026-11-28T10:00:00Z');
  const running = await rig(t, [without('temperature')], { formats: ['openai'], nowMs: () => nowMs });
  const { ask, get, baseUrl } = running;
  await ask({ temperature: 0.3 });
  const row = {
    model: 'm',
    field: 'temperature',
    does: 'left out',
    words: "Unsupported parameter: 'temperature' is not supported with this model.",
    seen: 1,
    since: '2026-11-28T10:00:00.000Z',
    until: '2026-11-28T11:00:00.000Z',
    config: '{"body":{"temperature":null}}',
  };
  t.deepEqual(await taughtIn(running), [row]);
  const explained = async () => (await get<Explanation>('/api/explain?model=any')).taught;
  t.deepEqual(await explained(), [row]);
  nowMs += 3_600_000;
  t.deepEqual(await explained(), [], 'the field is sent again');
  t.is((await taughtIn(running)).length, 1);
  const forget = async (query: string) =>
    (await fetch(`${baseUrl}/api/upstreams/taught?${query}`, { method: 'DELETE' })).status;
  t.is(await forget('provider=x'), 404);
  t.is(await forget('provider=a&model=n'), 404);
  t.is(await forget('provider=a&model=m&field=top_p'), 404);
  t.is(await forget('provider=a&model=m&field=temperature'), 200);
  t.deepEqual(await taughtIn(running), []);
});

test('the configuration that says it for good names the member that was sent', async (t) => {
  const refuses: Script = (asked) =>
    Object(asked.body).reasoning
      ? refusing("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
      : failing(404)(asked, 0);
  const running = await rig(t, [refuses], {
    config: { transformers: [{ name: 'openai', provider: 'a', options: { api: 'responses' } }] },
  });
  await running.ask({ reasoning_effort: 'low' }, '/v1/chat/completions');
  t.like((await taughtIn(running))[0], { field: 'reasoning.effort', config: '{"body":{"reasoning":{"effort":null}}}' });
});

test('a field is sent again after its time: what is refused still stays for longer, what is accepted is forgotten', async (t) => {
  let nowMs = 0;
  let refuses = true;
  const host: Script = (asked) => (refuses ? without('temperature')(asked, 0) : goodChat()(asked));
  const running = await rig(t, [host], { formats: ['openai'], nowMs: () => nowMs });
  const sent = async (afterMs: number) => {
    nowMs += afterMs;
    const before = running.upstreams[0]?.requests.length ?? 0;
    t.is((await running.ask({ temperature: 0.3 })).status, 200);
    return bodies(running.upstreams[0]?.requests.slice(before) ?? [], 'temperature');
  };
  const hour = 3_600_000;
  t.deepEqual(await sent(0), [0.3, undefined]);
  t.deepEqual(await sent(hour - 1), [undefined]);
  t.deepEqual(await sent(1), [0.3, undefined]);
  t.deepEqual(await sent(2 * hour - 1), [undefined]);
  t.is((await taughtIn(running))[0]?.seen, 2);
  refuses = false;
  t.deepEqual(await sent(1), [0.3]);
  t.deepEqual(await taughtIn(running), []);
});

for (const [where, options] of [
  ['the service', { config: { learn: false } }],
  ['a provider', { providers: [{ learn: false }] }],
] as const) {
  test(`nothing is taught where ${where} says so`, async (t) => {
    const running = await rig(t, [without('temperature')], { formats: ['openai'], ...options });
    for (const calls of [1, 2]) {
      const { status, text } = await running.ask({ temperature: 0.3 });
      t.is(status, 400);
      t.regex(text, /Unsupported parameter: 'temperature'/);
      t.is(running.upstreams[0]?.requests.length, calls);
    }
    t.deepEqual(await taughtIn(running), []);
  });
}

test('a refusal that teaches counts against no key, and the same key is used', async (t) => {
  const running = await rig(t, [without('temperature')], {
    formats: ['openai'],
    providers: [{ apiKey: ['k1', 'k2'] }],
    config: { BREAKER: { faults: 1 } },
  });
  t.is((await running.ask({ temperature: 0.3 })).status, 200);
  const [first, second] = running.upstreams[0]?.requests ?? [];
  t.is(first?.headers.authorization, second?.headers.authorization);
  const { upstreams } = await running.get<{ upstreams: readonly UpstreamRow[] }>('/api/upstreams');
  t.deepEqual(
    upstreams[0]?.keys.map(({ rest }) => rest),
    [null, null],
  );
  t.deepEqual(
    upstreams[0]?.models.map(({ faults, breaker }) => [faults, breaker]),
    [[0, 'closed']],
  );
});

test('a fallback answers if the try without the field fails as well', async (t) => {
  const never: Script = (asked) =>
    Object.hasOwn(Object(asked.body), 'temperature') ? without('temperature')(asked, 0) : failing(503)(asked, 0);
  const { ask, upstreams } = await rig(t, [never, goodChat('from b')], { formats: ['openai', 'openai'] });
  const { status, text, headers } = await ask({ temperature: 0.5 });
  t.is(status, 200);
  t.regex(text, /from b/);
  t.regex(String(headers['x-junctor-attempts']), /^a,m=400; a,m=503/);
  t.is(headers['x-junctor-loss'], undefined, 'the fallback has refused nothing');
  t.deepEqual(bodies(upstreams[1]?.requests ?? [], 'temperature'), [0.5]);
});

test('a member of a pool that refuses a field answers by itself, and the others get the field', async (t) => {
  const { ask, upstreams } = await rig(t, [without('temperature'), goodChat('b')], {
    formats: ['openai', 'openai'],
    config: {
      Pools: [{ name: 'both', strategy: 'weighted', members: [{ to: 'a,m' }, { to: 'b,m' }] }],
      Router: { default: 'both' },
    },
  });
  const enough = () => (upstreams[0]?.requests.length ?? 0) > 2 && (upstreams[1]?.requests.length ?? 0) > 0;
  // Which member is asked is left to chance.
  for (let asked = 0; asked < 100 && !enough(); asked += 1) t.is((await ask({ temperature: 0.5 })).status, 200);
  const [a, b] = upstreams.map(({ requests }) => bodies(requests, 'temperature'));
  t.deepEqual(a?.slice(0, 2), [0.5, undefined]);
  t.true((a?.length ?? 0) > 2 && a?.slice(2).every((sent) => sent === undefined));
  t.true((b?.length ?? 0) > 0 && b?.every((sent) => sent === 0.5));
});

test('a compaction that is refused teaches nothing; what the request for a summary is refused does', async (t) => {
  const host: Script = (asked) => {
    if (asked.text.includes('"compaction_trigger"'))
      return refusing(
        "Invalid value: 'compaction_trigger'. Unsupported parameter: 'store' is not allowed with compaction.",
      );
    if (Object.hasOwn(Object(asked.body), 'temperature')) return without('temperature')(asked, 0);
    return failing(404)(asked, 0);
  };
  const running = await rig(t, [host], {
    config: { transformers: [{ name: 'openai', provider: 'a', options: { api: 'responses' } }] },
  });
  const input = [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }];
  await running.ask({ store: false, temperature: 0.3, input, stream: true }, '/v1/responses');
  const asked = running.upstreams[0]?.requests ?? [];
  t.deepEqual(bodies(asked, 'temperature'), [0.3, 0.3, undefined]);
  t.deepEqual(
    (await taughtIn(running)).map(({ field }) => field),
    ['temperature'],
  );
});

const words = "Unsupported parameter: 'temperature' is not supported with this model.";
const sse = (...records: readonly string[]): UpstreamAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  pieces: records,
});
const whole = (body: object): UpstreamAnswer => ({
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify(body)],
});
const invalid = { type: 'error', error: { type: 'invalid_request_error', message: words } };
const answers: readonly (readonly [title: string, format: string, refusal: UpstreamAnswer])[] = [
  ['a body of status 200', 'openai', whole({ error: { message: words, code: 400 } })],
  ['a body of status 200 that says only words', 'openai', whole({ error: words })],
  ['the first record', 'openai', sse(`data: ${JSON.stringify({ error: { message: words, code: 400 } })}\n\n`)],
  ['an event without a status', 'openai', sse(`event: error\ndata: ${JSON.stringify({ error: words })}\n\n`)],
  [
    'a record after a comment, relayed',
    'anthropic',
    sse(
      ': waiting\n\n',
      'event: ping\ndata: {"type":"ping"}\n\n',
      `event: error\ndata: ${JSON.stringify(invalid)}\n\n`,
    ),
  ],
  ['a body of status 200, relayed', 'anthropic', whole(invalid)],
];
for (const [title, format, refusal] of answers) {
  test(`a refusal in an answer's place teaches: ${title}`, async (t) => {
    const host: Script = (asked) =>
      Object.hasOwn(Object(asked.body), 'temperature') ? refusal : (format === 'openai' ? goodChat() : good())(asked);
    const { ask, upstreams } = await rig(t, [host], { formats: [format], config: { BREAKER: { faults: 1 } } });
    const stream = title.includes('record') || title.includes('event');
    for (let asked = 0; asked < 2; asked += 1) {
      const { status, text } = await ask({ temperature: 0.3, stream });
      t.is(status, 200);
      t.regex(text, /fine/);
    }
    t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined, undefined]);
  });
}

test('an error after the answer has begun teaches nothing', async (t) => {
  const breaks: Script = () => {
    const { pieces = [], headers = {} } = begun();
    const all = async function* () {
      yield* pieces;
      yield `event: error\ndata: ${JSON.stringify(invalid)}\n\n`;
    };
    return { headers, pieces: all() };
  };
  const running = await rig(t, [breaks]);
  t.regex((await running.ask({ temperature: 0.3, stream: true })).text, /Unsupported parameter/);
  t.is(running.upstreams[0]?.requests.length, 1);
  t.deepEqual(await taughtIn(running), []);
});

test('what is refused of a count of tokens teaches nothing', async (t) => {
  const running = await rig(t, [() => refusing('temperature: Extra inputs are not permitted')]);
  t.is((await running.ask({ temperature: 0.3 }, '/v1/messages/count_tokens')).status, 200);
  t.is(running.upstreams[0]?.requests.length, 1);
  t.deepEqual(await taughtIn(running), []);
});

test('a refusal that a stage around the call hides teaches the next request', async (t) => {
  const hides = `import { answer, rx, transformer } from 'junctor/transformer';
    export default transformer({ name: 'hides', around: (request, next) => next(request).pipe(rx.catchError(() => answer('mine'))) });`;
  const running = await rig(t, [without('temperature')], {
    files: { 'hides.ts': hides },
    config: { transformers: [{ name: 'openai', provider: 'a' }, { path: 'hides.ts' }] },
  });
  t.regex((await running.ask({ temperature: 0.3 })).text, /mine/);
  t.is((await taughtIn(running))[0]?.seen, 1);
  t.regex((await running.ask({ temperature: 0.3 })).text, /fine/);
  t.deepEqual(bodies(running.upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined]);
});

test('two destinations that refuse in the same words are each taught', async (t) => {
  const gone = refusing('The service is unavailable.', {}, 503);
  const never: Script = (asked) =>
    Object.hasOwn(Object(asked.body), 'temperature') ? without('temperature')(asked, 0) : gone;
  const { ask, upstreams } = await rig(t, [never, without('temperature')], { formats: ['openai', 'openai'] });
  // One more try per request: the fallback's refusal serves the next one.
  t.is((await ask({ temperature: 0.5 })).status, 503);
  t.deepEqual(bodies(upstreams[1]?.requests ?? [], 'temperature'), [0.5]);
  const { status, headers } = await ask({ temperature: 0.5 });
  t.is(status, 200);
  t.regex(String(headers['x-junctor-loss']), /temperature/);
  t.deepEqual(bodies(upstreams[1]?.requests ?? [], 'temperature'), [0.5, undefined]);
});
