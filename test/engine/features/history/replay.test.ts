import test, { type ExecutionContext } from 'ava';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { Backpressure } from '../../../../engine/runtime/backpressure.ts';
import { playRecording } from '../../../../engine/upstream/play-recording.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import {
  jsonAnswer,
  recordedAnswer,
  type Script,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
} from '../../../support/upstreams/upstream.ts';

interface Rig extends TestGateway {
  readonly upstream: ScriptedUpstream;
  readonly written: { Providers: object[] };
}

const open = async (t: ExecutionContext, script: Script, more: object = {}, extras = {}): Promise<Rig> => {
  const upstream = await startUpstream(script);
  const written = {
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
    ...more,
  };
  const gateway = await startGateway(written, {}, extras);
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  return { ...gateway, upstream, written };
};

const hello = { model: 'any', max_tokens: 99, messages: [{ role: 'user', content: 'Hi' }] };

const send = (rig: Rig, path: string, body: unknown, id?: string): Promise<Response> =>
  fetch(`${rig.baseUrl}${path}`, {
    method: 'POST',
    headers: id === undefined ? {} : { 'x-junctor-capture': '1', 'x-request-id': id },
    body: JSON.stringify(body),
  });

const replay = (rig: Rig, id: string, how?: object): Promise<Response> =>
  fetch(`${rig.baseUrl}/api/requests/${id}/replay`, { method: 'POST', ...(how && { body: JSON.stringify(how) }) });

/** An answer but for what is made up anew for each: ids of ours, times. */
const settled = (text: string): string =>
  text
    .replace(/"(?:created|created_at|completed_at)":[\d.]+/g, '"at":0')
    .replace(/\b(msg|chatcmpl|resp|rs|fc|call|cmp|toolu)[-_][0-9a-f]{8,}\w*/g, '$1');

test('a recorded stream gives the same answer again, without an upstream call', async (t) => {
  const rig = await open(t, () => sseAnswer(chatStream(['Hel', 'lo 🙂'])), {
    transformers: [{ name: 'maxtoken', options: { max_tokens: 50 } }],
  });
  const bodies = {
    '/v1/messages': { ...hello, stream: true },
    '/v1/chat/completions': { model: 'p,m', stream: true, messages: hello.messages },
    '/v1/responses': { model: 'p,m', stream: true, input: 'Hi' },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const id = path.slice(4).replace('/', '-');
    const first = await (await send(rig, path, body, id)).text();
    const again = await replay(rig, id);
    t.is(again.status, 200, path);
    t.is(again.headers.get('x-junctor-replay'), id);
    t.is(again.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    t.is(settled(await again.text()), settled(first), path);
  }
  t.is(rig.upstream.requests.length, 3);
});

test('in each client protocol, streamed or whole, it says the same', async (t) => {
  const rig = await open(t, () => recordedAnswer('openai-chat/text-long.sse'));
  await (await send(rig, '/v1/messages', { ...hello, stream: true }, 'one')).text();
  const said = new Set<string>();
  for (const client of ['messages', 'chat', 'responses'] as const) {
    const whole = await replay(rig, 'one', { client, stream: false });
    const body = (await whole.json()) as {
      content?: { text: string }[];
      choices?: { message: { content: string } }[];
      output?: { content: { text: string }[] }[];
    };
    t.is(whole.status, 200, JSON.stringify(body));
    said.add(
      body.content?.[0]?.text ?? body.choices?.[0]?.message.content ?? body.output?.[0]?.content[0]?.text ?? client,
    );
    const streamed = await replay(rig, 'one', { client, stream: true });
    const text = await streamed.text();
    const end = { messages: 'event: message_stop', chat: 'data: [DONE]', responses: 'event: response.completed' }[
      client
    ];
    t.true(text.includes(end), `${client}: ${text.slice(-300)}`);
  }
  t.is(said.size, 1, [...said].join(' | '));
});

test('at the speed asked for', async (t) => {
  const rig = await open(t, () => sseAnswer(chatStream(['a', 'b', 'c', 'd'], 100)));
  await (await send(rig, '/v1/messages', { ...hello, stream: true }, 'one')).text();
  const timeOf = async (speed: number): Promise<number> => {
    const startedMs = performance.now();
    await (await replay(rig, 'one', { speed })).text();
    return performance.now() - startedMs;
  };
  // A busy machine only makes them longer, so nothing is asked of the most that they take.
  const [asRecorded, faster, atOnce] = [await timeOf(1), await timeOf(4), await timeOf(0)];
  t.true(asRecorded >= 380, `as recorded: ${asRecorded}`);
  t.true(faster >= 95, `four times as fast: ${faster}`);
  t.log(`as recorded: ${asRecorded} ms; four times as fast: ${faster} ms; at once: ${atOnce} ms`);
  for (const speed of [-1, 'fast', 1e9]) t.is((await replay(rig, 'one', { speed })).status, 400);
});

test('a recording of hours ends soon when it is played much faster, or without delays', async (t) => {
  const hourMs = 3_600_000;
  const recording = {
    status: 200,
    headers: {},
    headMs: hourMs,
    chunks: [1, 2].map((hours) => ({ atMs: hours * hourMs, bytes: Buffer.from(String(hours)) })),
    fault: undefined,
  };
  const call = { url: new URL('http://127.0.0.1:1'), headers: {}, body: '', backpressure: new Backpressure() };
  for (const speed of [0, 1e6]) {
    const { body } = await firstValueFrom(playRecording(recording, speed).call(call));
    t.is(Buffer.concat(await lastValueFrom(body.pipe(toArray()))).toString(), '12');
  }
});

test("today's graph is used, and nothing is counted, logged, remembered or captured", async (t) => {
  const rig = await open(
    t,
    () => sseAnswer(chatStream(['bad word'])),
    {},
    {
      files: {
        'mask.js': `import { machine } from 'junctor/transformer';
        export default { name: 'mask', events: machine({ initial: () => ({}), step(_, event, out) {
          out.push(event.type === 'text-delta' ? { ...event, text: event.text.replace('bad', 'good') } : event); } }) };`,
      },
    },
  );
  await (await send(rig, '/v1/messages', { ...hello, stream: true }, 'one')).text();
  const before = await (await fetch(`${rig.baseUrl}/metrics`)).text();
  const config = JSON.stringify({ ...rig.written, transformers: [{ path: 'mask.js' }] });
  t.is((await fetch(`${rig.baseUrl}/api/config`, { method: 'POST', body: config })).status, 200);
  t.regex(await (await replay(rig, 'one')).text(), /good word/);
  const counted = (text: string) =>
    text.split('\n').filter((line) => /^junctor_(?:requests|tokens|losses)_total/.test(line));
  t.deepEqual(counted(await (await fetch(`${rig.baseUrl}/metrics`)).text()), counted(before));
  const { requests } = (await (await fetch(`${rig.baseUrl}/api/requests`)).json()) as { requests: object[] };
  t.is(requests.length, 1);
  const log = (await (await fetch(`${rig.baseUrl}/api/logs`)).json()) as string[];
  t.is(log.filter((line) => line.includes('routed to')).length, 1);
  const gone = JSON.stringify({ Providers: [{ name: 'q', baseUrl: 'http://127.0.0.1:9', apiKey: '', models: ['m'] }] });
  t.is((await fetch(`${rig.baseUrl}/api/config`, { method: 'POST', body: gone })).status, 200);
  const refused = await replay(rig, 'one');
  t.is(refused.status, 409);
  t.regex(((await refused.json()) as { message: string }).message, /"p" is not configured any more/);
});

test('faults come again as faults: a failure status, a stream that broke off', async (t) => {
  const rig = await open(t, ({ body }) => {
    const { model } = body as { model: string };
    if (model === 'limit') {
      return {
        ...jsonAnswer({ error: { message: 'slow down' } }, 429),
        headers: { 'retry-after': '7', 'content-type': 'application/json' },
      };
    }
    return sseAnswer([...chatStream(['Hi'])].slice(0, 2), 'reset');
  });
  await (await send(rig, '/v1/messages', { ...hello, model: 'p,limit' }, 'limit')).text();
  const limited = await replay(rig, 'limit', { client: 'chat' });
  t.is(limited.status, 429);
  t.is(limited.headers.get('retry-after'), '7');
  t.like(await limited.json(), { error: { message: 'slow down (provider p, model limit)' } });
  const first = await (await send(rig, '/v1/messages', { ...hello, model: 'p,cut', stream: true }, 'cut')).text();
  t.regex(first, /event: error/);
  const again = await (await replay(rig, 'cut')).text();
  t.regex(again, /Hi[\s\S]*event: error/);
  t.false(again.includes('message_stop'));
});

test('what holds no whole answer is refused in words', async (t) => {
  const rig = await open(t, ({ body }) => {
    const { model } = body as { model: string };
    return model === 'gone' ? 'reset' : sseAnswer([...chatStream(['Hi'])].slice(0, 2), 'stall');
  });
  const message = async (answer: Response): Promise<string> => ((await answer.json()) as { message: string }).message;
  const nobody = await replay(rig, 'nobody');
  t.is(nobody.status, 404);
  await (await send(rig, '/v1/messages', { ...hello, model: 'p,gone' }, 'gone')).text();
  const gone = await replay(rig, 'gone');
  t.is(gone.status, 409);
  t.regex(await message(gone), /no answer of an upstream/);
  const leaving = new AbortController();
  const left = await fetch(`${rig.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-junctor-capture': '1', 'x-request-id': 'left' },
    body: JSON.stringify({ ...hello, stream: true }),
    signal: leaving.signal,
  });
  await left.body?.getReader().read();
  leaving.abort();
  let answer = await replay(rig, 'left');
  await until(async () => {
    if (answer.status === 404) answer = await replay(rig, 'left');
    return answer.status !== 404;
  });
  t.is(answer.status, 409);
  t.regex(await message(answer), /the client went before its end/);
  t.is((await replay(rig, 'gone', { client: 'gemini' })).status, 400);
});

test('a request of a preset is replayed by that preset; compressed answers are recorded plain', async (t) => {
  const { gzipSync } = await import('node:zlib');
  const rig = await open(
    t,
    () => ({
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      pieces: [gzipSync(JSON.stringify(chatReply('packed')))],
    }),
    {},
    { files: { 'presets/two/manifest.json': JSON.stringify({ Router: { default: 'p,other' } }) } },
  );
  await (await send(rig, '/preset/two/v1/messages', hello, 'one')).text();
  const { summary, capture } = (await (await fetch(`${rig.baseUrl}/api/requests/one`)).json()) as {
    summary: object;
    capture: { upstream: { chunks: { text: string }[] } };
  };
  t.like(summary, { preset: 'two', model: 'other', path: '/preset/two/v1/messages' });
  t.true(
    capture.upstream.chunks
      .map(({ text }) => text)
      .join('')
      .includes('packed'),
  );
  t.like(await (await replay(rig, 'one')).json(), { content: [{ text: 'packed' }] });
});

test('a compaction is in the list like any request, and replays as one', async (t) => {
  const rig = await open(t, () => jsonAnswer(chatReply('A summary.')));
  const input = [{ role: 'user', content: 'Hi' }];
  for (const [path, body] of [
    ['/v1/responses/compact', { model: 'p,m', input }],
    ['/v1/responses', { model: 'p,m', input: [...input, { type: 'compaction_trigger' }] }],
  ] as const) {
    const id = path.slice(4).replace('/', '-');
    const first = await (await send(rig, path, body, id)).text();
    t.regex(first, /"type":"compaction"/);
    const { summary } = Object(await (await fetch(`${rig.baseUrl}/api/requests/${id}`)).json());
    t.like(summary, {
      path,
      status: 200,
      provider: 'p',
      usage: { output: Object(JSON.parse(first).usage).output_tokens },
    });
    const again = await replay(rig, id);
    t.deepEqual(JSON.parse(settled(await again.text())), JSON.parse(settled(first)), path);
  }
  t.is(rig.upstream.requests.length, 2);
});
