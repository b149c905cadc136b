import test from 'ava';
import { request } from 'undici';
import { type FaultClient, faultClients } from '../../support/faults/clients.ts';
import { cutPoints, lastRecordAt } from '../../support/faults/cut-points.ts';
import { lanes } from '../../support/faults/lanes.ts';
import { goodText, upstreamFaults } from '../../support/faults/upstream-faults.ts';
import { modelOf, providersAt, type WireName, wantsStream, wireNames, wires } from '../../support/faults/wires.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';
import {
  jsonAnswer,
  type Reaction,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
} from '../../support/upstreams/upstream.ts';

/** What every client protocol shows of each fault of an upstream, before and after the first byte. */
let gateway: TestGateway;
/** The same, but it waits for a moment only: for upstreams that never answer. The others must never be late, on a busy machine either. */
let impatient: TestGateway;
/** The same, but it waits for a moment only once an answer has begun. */
let waitsForStart: TestGateway;
const upstreams = new Map<WireName, ScriptedUpstream>();

/** A recording of each wire that has both text and calls, or as much of it as there is. */
const recorded: Readonly<Record<WireName, readonly [folder: string, name: string]>> = {
  messages: ['anthropic', 'tools-parallel-with-text'],
  chat: ['openai-chat', 'tools-parallel'],
  responses: ['openai-responses', 'tool-single'],
  gemini: ['gemini', 'tool-thought-signature'],
};

const recordings = new Map(
  wireNames.map((wire) => {
    const [folder, name] = recorded[wire];
    return [wire, recordingsOf(folder).find((recording) => recording.name === name)?.bytes];
  }),
);

const recordingOf = (wire: WireName): Uint8Array => {
  const found = recordings.get(wire);
  if (!found) throw new Error(`there is no recording of ${wire}`);
  return found;
};

const play = (wire: WireName, model: string, streaming: boolean): Reaction => {
  const cut = /^cut (\d+) (close|end|reset)$/.exec(model);
  if (cut?.[2]) {
    const finish = cut[2] === 'close' ? 'close' : cut[2] === 'reset' ? 'reset' : 'end';
    return sseAnswer([recordingOf(wire).subarray(0, Number(cut[1]))], finish);
  }
  if (model === 'long words') return jsonAnswer(wires[wire].error('long '.repeat(180_000), 400), 400);
  const status = /^status (\d+)$/.exec(model)?.[1];
  if (status !== undefined) {
    return {
      ...jsonAnswer(wires[wire].error('sk-secret-canary does not please us', Number(status)), Number(status)),
      headers: statusHeaders,
    };
  }
  return upstreamFaults[model]?.play(wires[wire], streaming) ?? 'close';
};

const statusHeaders = {
  'content-type': 'application/json',
  'retry-after': '7',
  'x-should-retry': 'true',
  'x-ratelimit-remaining-requests': '3',
  'anthropic-ratelimit-requests-remaining': '4',
};

test.before(async () => {
  for (const wire of wireNames) {
    upstreams.set(wire, await startUpstream((asked) => play(wire, modelOf(asked), wantsStream(asked))));
  }
  const config = {
    LOG: false,
    // Captures of the thousands of failures aren't looked at.
    HISTORY: { captureFailed: false },
    // This is about shapes; what is asked again, and what stops being asked, has tests of its own.
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000_000 },
    TIMEOUTS: { firstByteMs: 600_000, idleMs: 600_000 },
    ...providersAt((wire) => upstreams.get(wire)?.url ?? ''),
  };
  // Behind a first keep-alive, a fault is no status anymore.
  const startWith = (timeouts: object) =>
    startGateway({ ...config, TIMEOUTS: { ...config.TIMEOUTS, ...timeouts } }, {}, { keepAliveMs: 600_000 });
  gateway = await startWith({});
  const own = { firstByteMs: 1_000, idleMs: 1_000 };
  const Providers = config.Providers.map((provider) => ({ ...provider, timeouts: own }));
  impatient = await startGateway({ ...config, Providers }, {}, { keepAliveMs: 600_000 });
  waitsForStart = await startWith({ callMs: 5_000 });
});

test.after.always(async () => {
  await Promise.all([gateway, impatient, waitsForStart].map((one) => one?.stop()));
  await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
});

/** A machine that is busy with all of them at once would run into the limits on waiting. */
const working = lanes(4);
/** Requests that only wait for those limits take no processor time. */
const waiting = lanes(64);
const turnOf = (model: string) => (/never|stalls/.test(model) ? waiting : working);
const gatewayFor = (model: string): TestGateway => {
  if (turnOf(model) === working) return gateway;
  return model.endsWith('stalls mid-stream') ? waitsForStart : impatient;
};

const post = ({ path, ask }: FaultClient, model: string, stream: boolean) =>
  turnOf(model)(async () => {
    const { baseUrl } = gatewayFor(model);
    const answer = await request(`${baseUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify({ ...ask, model, stream }),
    });
    // `text()` would hide a byte order mark.
    const text = Buffer.from(await answer.body.arrayBuffer()).toString();
    return { status: answer.statusCode, headers: answer.headers, text };
  });

/** The message of an error reply in the route's own shape. */
const messageIn = (client: FaultClient, text: string): string => {
  const body: unknown = JSON.parse(text);
  if (client.name === 'messages') return client.readReply(body).error ?? '';
  const { error }: { readonly error: Readonly<Record<string, unknown>> } = Object(body);
  if (!('type' in error && 'code' in error && 'param' in error)) throw new Error(`another shape: ${text}`);
  return String(error.message);
};

for (const client of faultClients) {
  for (const wire of wireNames) {
    const passThrough = client.name === wire;
    for (const [fault, { line, comesTo }] of Object.entries(upstreamFaults)) {
      for (const stream of [true, false]) {
        test(`${line} ${client.path} ← ${wire} that ${fault} (${stream ? 'streamed' : 'whole'})`, async (t) => {
          const { status, headers, text } = await post(client, `${wire},${fault}`, stream);
          t.false(text.includes('secret-canary'), 'no key shows');
          t.is(headers['x-junctor-route'], `${wire},${fault};explicit`);
          if (status !== 200) {
            t.not(comesTo, 'answer', text);
            if (stream) t.not(comesTo, 'broken', text);
            t.true(messageIn(client, text).length > 5, text);
            if (typeof comesTo === 'number') t.is(status, comesTo, text);
            else t.true(status >= 400, text);
            return;
          }
          if (!stream) {
            t.is(comesTo, 'answer', text);
            t.is(client.readReply(JSON.parse(text)).text, goodText);
            return;
          }
          const { errors, ends, text: words, after } = client.tally(text);
          t.is(after, 0, 'nothing follows the end');
          if (comesTo === 'answer') {
            t.deepEqual({ errors, ends, words }, { errors: [], ends: 1, words: goodText }, text);
          } else {
            t.false(typeof comesTo === 'number', text);
            t.is(errors.length, 1, text);
            t.is(ends, 0, text);
            t.true((errors[0]?.length ?? 0) > 5);
            if (comesTo === 'broken') t.true(goodText.startsWith(words) && words !== '', text);
          }
          if (!passThrough) t.is(client.readStream(text).error, errors[0]);
        });
      }
    }

    test(`R3 ${client.path} ← ${wire}: cut around each record, it ends in one error or is whole`, async (t) => {
      const bytes = recordingOf(wire);
      const whole = client.tally((await post(client, `${wire},cut ${bytes.length} end`, true)).text);
      t.is(whole.errors.length, 0);
      const lastRecord = lastRecordAt(bytes);
      let cuts = 0;
      let finished = 0;
      const one = async (point: number, finish: 'close' | 'end' | 'reset'): Promise<void> => {
        const { status, text } = await post(client, `${wire},cut ${point} ${finish}`, true);
        const where = `${finish} at ${point} of ${bytes.length}: ${text}`;
        cuts += 1;
        if (status !== 200) {
          t.true(messageIn(client, text).length > 5, where);
          return;
        }
        const { errors, ends, text: words } = client.tally(text);
        if (!passThrough) client.readStream(text);
        finished += ends;
        // What lacks nothing but its last marks may pass for whole; where the connection breaks, only an end that was there.
        if (finish !== 'end' && point <= lastRecord) t.is(errors.length, 1, where);
        t.is(errors.length + Math.min(ends, 1), 1, where);
        if (errors.length === 0) t.is(words, whole.text, where);
      };
      await Promise.all(
        cutPoints(bytes).flatMap((point) => (['close', 'end', 'reset'] as const).map((finish) => one(point, finish))),
      );
      t.log(`${cuts} cuts, ${finished} whole`);
      t.true(cuts > 5);
    });

    test(`${client.path} ← ${wire}: an error message without end is cut to 2,000 characters`, async (t) => {
      for (const stream of [true, false]) {
        const { status, text } = await post(client, `${wire},long words`, stream);
        t.is(status, 400);
        t.is(messageIn(client, text), `${'long '.repeat(400)} (provider ${wire}, model long words)`);
      }
    });

    test(`R19 ${client.path} ← ${wire}: each failure's status, type, waiting time and limits`, async (t) => {
      for (const stream of [true, false]) {
        for (const [status, expected] of Object.entries(statuses[client.name] ?? {})) {
          const { status: got, headers, text } = await post(client, `${wire},status ${status}`, stream);
          t.is(got, expected.status, text);
          const { error }: { error: { type: string } } = JSON.parse(text);
          t.is(error.type, expected.type, `${status}: ${text}`);
          t.false(text.includes('secret-canary'));
          t.is(headers['x-junctor-route'], `${wire},status ${status};explicit`);
          t.is(headers['retry-after'], '7');
          t.is(headers['x-should-retry'], 'true');
          t.is(headers['x-ratelimit-remaining-requests'], '3');
          // A header of one vendor's own.
          if (wire === 'messages') t.is(headers['anthropic-ratelimit-requests-remaining'], '4');
        }
      }
    });
  }
}

interface Shown {
  readonly status: number;
  readonly type: string;
}

const openAi: Readonly<Record<number, Shown>> = {
  401: { status: 401, type: 'invalid_request_error' },
  429: { status: 429, type: 'rate_limit_exceeded' },
  500: { status: 500, type: 'server_error' },
  503: { status: 503, type: 'server_error' },
  529: { status: 503, type: 'server_error' },
};

/** What each client is shown of each failure. */
const statuses: Readonly<Partial<Record<WireName, Readonly<Record<number, Shown>>>>> = {
  messages: {
    401: { status: 401, type: 'authentication_error' },
    429: { status: 429, type: 'rate_limit_error' },
    500: { status: 500, type: 'api_error' },
    503: { status: 503, type: 'overloaded_error' },
    529: { status: 529, type: 'overloaded_error' },
  },
  chat: openAi,
  responses: { ...openAi, 429: { status: 429, type: 'requests' } },
};

/** JSON nested so deeply that no walk over it fits on the stack. */
const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const geminiCall = (args: string): string =>
  `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`;

test('arguments nested 20,000 levels deep, and very many items, are never an internal error', async (t) => {
  const args = deep(20_000);
  const answers: Readonly<Record<string, string>> = {
    gemini: geminiCall(args),
    openai: JSON.stringify({
      choices: [
        { message: { tool_calls: [{ id: 'c', function: { name: 'f', arguments: args } }] }, finish_reason: 'stop' },
      ],
    }),
  };
  const upstream = await startUpstream(({ url }) => {
    const text = answers[url.includes('generateContent') ? 'gemini' : 'openai'] ?? '';
    if (!url.includes('stream')) return { headers: { 'content-type': 'application/json' }, pieces: [text] };
    return { headers: { 'content-type': 'text/event-stream' }, pieces: [`data: ${text}\n\n`] };
  });
  t.teardown(upstream.close);
  const formats = ['gemini', 'openai', 'anthropic'];
  const gateway = await startGateway({
    LOG: false,
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000 },
    Providers: formats.map((name) => ({ name, baseUrl: upstream.url, apiKey: 'k', models: ['m'] })),
    transformers: formats.map((name) => ({ name, provider: name })),
  });
  t.teardown(gateway.stop);
  const post = async (path: string, body: object) => {
    const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const hello = [{ role: 'user', content: 'hi' }];
  for (const model of ['gemini,m', 'openai,m']) {
    const whole = await post('/v1/messages', { model, max_tokens: 9, messages: hello });
    t.is(whole.status, 502, `${model}: ${whole.text.slice(0, 200)}`);
  }
  const streamed = await post('/v1/messages', { model: 'gemini,m', max_tokens: 9, messages: hello, stream: true });
  t.regex(streamed.text, /event: error\ndata: .*upstream/);

  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: args } };
  const history = [
    ...hello,
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: '' },
  ];
  for (const model of ['gemini,m', 'anthropic,m']) {
    const refused = await post('/v1/chat/completions', { model, messages: history });
    t.is(refused.status, 400, `${model}: ${refused.text.slice(0, 200)}`);
  }

  const results = Array.from({ length: 65_000 }, (_, index) => [
    { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${index}`, output: 'x' },
  ]);
  const input = [...results.map(([called]) => called), ...results.map(([, output]) => output)];
  for (const model of formats.map((name) => `${name},m`)) {
    const { status, text } = await post('/v1/responses', { model, input });
    t.not(status, 500, `${model}: ${text.slice(0, 200)}`);
  }
});
