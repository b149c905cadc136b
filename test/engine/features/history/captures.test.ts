import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { BodyRoom } from '../../../../engine/features/history/capture-watch.ts';
import { type CaptureReason, Captures, maxCaptureBytes } from '../../../../engine/features/history/captures.ts';
import { Recorder } from '../../../../engine/features/history/recorder.ts';
import type { RequestDetail, RequestSummary } from '../../../../engine/features/record/schema.ts';
import { start } from '../../../../engine/service/server.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import {
  jsonAnswer,
  type Script,
  type ScriptedUpstream,
  sseAnswer,
  startUpstream,
} from '../../../support/upstreams/upstream.ts';

const secret = 'the-providers-very-own-key';

interface Rig extends TestGateway {
  readonly upstream: ScriptedUpstream;
}

const open = async (t: ExecutionContext, script: Script, more: object = {}, env = {}, extras = {}): Promise<Rig> => {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: secret, models: ['m', 'n'] }],
      Router: { default: 'p,m' },
      ...more,
    },
    env,
    extras,
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  return { ...gateway, upstream };
};

const hello = { model: 'any', max_tokens: 99, messages: [{ role: 'user', content: 'Hi' }] };

const post = (rig: Rig, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${rig.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

// What an endpoint answers is what the tests are about.
const get = async <T>(rig: Rig, path: string): Promise<T> => (await (await fetch(`${rig.baseUrl}${path}`)).json()) as T;

const captured = async (rig: Rig, id: string): Promise<RequestDetail> => {
  const detail = await get<RequestDetail>(rig, `/api/requests/${encodeURIComponent(id)}`);
  if (!detail.capture) throw new Error(`not captured: ${JSON.stringify(detail)}`);
  return detail;
};

const asked = { 'x-junctor-capture': '1', 'x-request-id': 'one' };

test('a streamed request as it went through: bodies, steps, bytes with their times, events, timing', async (t) => {
  const rig = await open(t, () => sseAnswer(chatStream(['Hel', 'lo 🙂'])), {
    transformers: [{ name: 'maxtoken', options: { max_tokens: 50 } }, 'enhancetool'],
  });
  const answer = await post(rig, '/v1/messages', { ...hello, stream: true, top_k: 3 }, asked);
  const text = await answer.text();
  const { summary, capture } = await captured(rig, 'one');
  if (!capture) return t.fail();
  t.like(summary, {
    id: 'one',
    asked: 'any',
    provider: 'p',
    model: 'm',
    scenario: 'default',
    status: 200,
    captured: true,
  });
  t.like(capture.client, { method: 'POST', path: '/v1/messages', truncated: false });
  t.deepEqual(JSON.parse(capture.client.body), { ...hello, stream: true, top_k: 3 });
  t.deepEqual(
    capture.steps.map(({ kind, name }) => `${kind} ${name}`),
    ['decode decode', 'route route', 'stage maxtoken', 'encode openai'],
  );
  const requests = capture.steps.map(({ request }) => request as Record<string, unknown>);
  t.deepEqual(
    requests.map(({ maxTokens, max_tokens: wire }) => maxTokens ?? wire),
    [99, 99, 50, 50],
  );
  t.deepEqual(
    capture.steps.map(({ losses }) => losses.map(({ field, action }) => `${action} ${field}`)),
    [[], [], ['approximated max_tokens'], ['dropped top_k']],
  );
  t.true(capture.steps.every(({ ms }) => ms >= 0));
  t.like(capture.upstream, {
    url: `${rig.upstream.url}/v1/chat/completions`,
    method: 'POST',
    status: 200,
    ended: 'complete',
    truncated: false,
  });
  t.is(capture.upstream?.body, rig.upstream.requests[0]?.text);
  t.is(capture.upstream?.headers.authorization, '***');
  t.is(capture.reply.chunks.map((chunk) => chunk.text).join(''), text);
  t.like(capture.reply, { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  const decoded = capture.events.filter(({ step }) => step === 'decode');
  t.true(decoded.length >= 3, 'one entry for each piece');
  t.deepEqual(
    decoded.flatMap(({ events }) => events.map((event) => (event as { type: string }).type)),
    ['message-start', 'block-start', 'text-delta', 'text-delta', 'block-stop', 'message-stop'],
  );
  t.true(capture.events.some(({ step }) => step === 'enhancetool'));
  const times = capture.upstream?.chunks.map(({ atMs }) => atMs) ?? [];
  t.true(times.every((atMs, index) => index === 0 || atMs >= (times[index - 1] ?? 0)));
  t.deepEqual(
    capture.timing.map(({ name }) => name),
    ['received', 'decoded', 'routed', 'encoded', 'called', 'upstreamHead', 'firstChunk', 'firstByte', 'end'],
  );
  const marks = capture.timing.map(({ atMs }) => atMs);
  t.deepEqual(
    marks,
    [...marks].sort((one, other) => one - other),
  );
  t.is(marks.at(-1), summary.durationMs, 'recording itself takes no part of the time');
});

test('R13 capturing is off by default, is switched, and is forgotten', async (t) => {
  const rig = await open(t, () => jsonAnswer(chatReply('Hi')));
  await (await post(rig, '/v1/messages', hello, { 'x-request-id': 'plain' })).text();
  const plain = await fetch(`${rig.baseUrl}/api/requests/plain`);
  t.is(plain.status, 200, 'a request that was not captured is no error');
  t.like(await plain.json(), { capture: null, summary: { id: 'plain', captured: false, status: 200 } });
  t.is((await fetch(`${rig.baseUrl}/api/requests/nobody`)).status, 404);
  t.like(await get(rig, '/api/capture'), { on: false, kept: 0, bytes: 0, most: 470, mostBytes: 1_048_576 });
  t.like(await (await post(rig, '/api/capture', { on: true })).json(), { on: true });
  t.is((await post(rig, '/api/capture', { on: 'yes' })).status, 400);
  await (await post(rig, '/v1/messages', hello, { 'x-request-id': 'a/b_c' })).text();
  t.like((await captured(rig, 'a/b_c')).summary, { captured: true });
  t.like(await get(rig, '/api/capture'), { on: true, kept: 1 });
  await fetch(`${rig.baseUrl}/api/requests`, { method: 'DELETE' });
  const { requests, newest, capture } = await get<{ requests: unknown[]; newest: number; capture: object }>(
    rig,
    '/api/requests',
  );
  t.deepEqual(requests, []);
  t.is(newest, 2);
  t.like(capture, { on: true, kept: 0, bytes: 0 });
});

test('R13 at most 50 captures are kept, each of at most 1 MiB, whatever goes through', async (t) => {
  // What can't be compressed, so that each must be cut.
  const noise = Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2)).join('');
  const rig = await open(t, ({ text }) => jsonAnswer(chatReply(text.length > 1e6 ? noise.repeat(4) : 'Hi')));
  await post(rig, '/api/capture', { on: true });
  for (let count = 1; count <= 55; count += 1) {
    const content = count === 55 ? noise.repeat(4) : 'Hi';
    const body = { ...hello, messages: [{ role: 'user', content }] };
    await (await post(rig, '/v1/messages', body, { 'x-request-id': `r${count}` })).arrayBuffer();
  }
  const captureOf = async (id: string): Promise<unknown> =>
    Object(await (await fetch(`${rig.baseUrl}/api/requests/${id}`)).json()).capture;
  t.is(await captureOf('r5'), null);
  t.not(await captureOf('r6'), null);
  const { summary, capture } = await captured(rig, 'r55');
  t.is(summary.status, 200);
  t.true(capture?.truncated);
  t.true(capture?.client.truncated);
  t.true(capture?.upstream?.truncated);
  const state = await get<{ kept: number; bytes: number; mostBytes: number }>(rig, '/api/capture');
  t.is(state.kept, 50);
  t.true(state.bytes <= 50 * state.mostBytes);
  const replayed = await post(rig, '/api/requests/r55/replay', {});
  t.is(replayed.status, 409);
  t.regex(((await replayed.json()) as { message: string }).message, /too large/);
});

const canary = 'canary-of-a-client-77be02';

test('no key is in a capture: headers, URLs, bodies, pieces that cut it, numbers that read like it', async (t) => {
  const own = '17123456';
  const echo = [
    'data: {"choices":[{"index":0,"delta":{"content":"the key is the-provi',
    15,
    'ders-very-own-key, yes"},"finish_reason":null}],"created":171234567}\n\n',
    15,
  ];
  const upstream = await startUpstream(() => sseAnswer([...echo, ...chatStream([`and again ${secret}`])]));
  const gateway = await startGateway(
    {
      APIKEY: own,
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1?key=${secret}`, apiKey: '$P_KEY', models: ['m'] }],
      Router: { default: 'p,m' },
    },
    { P_KEY: secret },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const headers = { 'x-api-key': own, cookie: `a=${canary}`, 'x-odd': `is ${secret}`, ...asked };
  const body = {
    ...hello,
    stream: true,
    messages: [{ role: 'user', content: `my keys: ${secret}, ${own}, ${canary}` }],
  };
  await (
    await fetch(`${gateway.baseUrl}/v1/messages?key=${canary}`, { method: 'POST', headers, body: JSON.stringify(body) })
  ).text();
  const text = await (await fetch(`${gateway.baseUrl}/api/requests/one`, { headers: { 'x-api-key': own } })).text();
  for (const key of [secret, canary, `"${own}"`, ` ${own},`]) t.false(text.includes(key), key);
  t.false(text.includes('the-provi') || text.includes('very-own-key'), 'not in parts either');
  const { capture } = JSON.parse(text) as RequestDetail;
  t.is(capture?.client.path, '/v1/messages?key=***');
  t.like(capture?.client.headers, { 'x-api-key': '***', cookie: '***', 'x-odd': 'is ***' });
  t.is(capture?.upstream?.url, `${upstream.url}/v1/chat/completions?key=***`);
  t.true(capture?.upstream?.chunks[0]?.text?.endsWith('the key is ***'));
  t.regex(capture?.curl.upstream ?? '', /authorization: Bearer '"\$P_KEY"/);
  t.regex(capture?.curl.upstream ?? '', /\?key='"\$P_KEY"/);
  t.regex(capture?.curl.client ?? '', /x-api-key: '"\$JUNCTOR_API_KEY"/);
});

test('the commands do the same once more, whatever the body has in it', async (t) => {
  const hasCurl = await promisify(execFile)('curl', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasCurl) return t.pass('needs curl');
  const rig = await open(t, () => jsonAnswer(chatReply('Hi')));
  const content = `it's "quoted" $HOME \`id\` \\ 🙂\nBODY\nBODY_2\n`;
  const body = JSON.stringify({ ...hello, messages: [{ role: 'user', content }] }, null, 1);
  await (
    await fetch(`${rig.baseUrl}/v1/messages?beta=true`, {
      method: 'POST',
      body,
      headers: { ...asked, 'x-api-key': 'any-word', 'x-odd': "it's" },
    })
  ).text();
  const { capture } = await captured(rig, 'one');
  const run = async (command: string | null | undefined): Promise<string> => {
    const env = { PATH: process.env.PATH, P_API_KEY: 'from-the-environment', JUNCTOR_API_KEY: 'any-word' };
    return (await promisify(execFile)('sh', ['-c', command ?? ''], { env })).stdout;
  };
  t.like(JSON.parse(await run(capture?.curl.client)), { type: 'message', content: [{ type: 'text', text: 'Hi' }] });
  t.like(JSON.parse(await run(capture?.curl.upstream)), { choices: [{ message: { content: 'Hi' } }] });
  const [first, second, third] = rig.upstream.requests;
  t.deepEqual(second?.body, first?.body);
  t.deepEqual(third?.body, first?.body);
  t.is(third?.headers.authorization, 'Bearer from-the-environment');
  t.is(first?.headers.authorization, `Bearer ${secret}`);
});

test('summaries of all that ended: routed or not, failed, broken off, left by the client', async (t) => {
  const rig = await open(t, ({ body }) => {
    const { model } = body as { model: string };
    if (model === 'n') return jsonAnswer({ error: { message: `no such thing, ${secret}` } }, 400);
    if (model === 'cut') return sseAnswer([...chatStream(['Hi'])].slice(0, 2), 'reset');
    if (model === 'slow') return sseAnswer([...chatStream(['Hi'])].slice(0, 2), 'stall');
    return jsonAnswer(chatReply('Hi'));
  });
  const send = async (model: string, more: object = {}): Promise<string> =>
    (await post(rig, '/v1/messages', { ...hello, model, ...more }, { 'x-request-id': model })).text();
  await send('any');
  await send('p,n');
  await send('q,n');
  await (
    await fetch(`${rig.baseUrl}/v1/chat/completions`, { method: 'POST', body: '{', headers: { 'x-request-id': 'bad' } })
  ).text();
  await send('p,cut', { stream: true });
  const leaving = new AbortController();
  const slow = await fetch(`${rig.baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ ...hello, model: 'p,slow', stream: true }),
    headers: { 'x-request-id': 'slow' },
    signal: leaving.signal,
  });
  const reader = slow.body?.getReader();
  await reader?.read();
  const during = await get<{ inFlight: object[]; inFlightCount: number }>(rig, '/api/activity');
  t.is(during.inFlightCount, 1);
  t.like(during.inFlight[0], {
    id: 'slow',
    asked: 'p,slow',
    provider: 'p',
    model: 'slow',
    stream: true,
    phase: 'streaming',
  });
  leaving.abort();
  await t.throwsAsync(async () => reader?.read(), { any: true });
  let requests: RequestSummary[] = [];
  while (requests.length < 6) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    ({ requests } = await get<{ requests: RequestSummary[] }>(rig, '/api/requests?limit=10'));
  }
  t.deepEqual(
    requests.map(({ n, id, status, fault }) => [n, id, status, fault?.kind]),
    [
      [6, 'slow', 499, undefined],
      [5, 'p,cut', 200, 'upstream-cut'],
      [4, 'bad', 400, 'invalid-request'],
      [3, 'q,n', 400, 'no-route'],
      [2, 'p,n', 400, 'upstream-invalid'],
      [1, 'any', 200, undefined],
    ],
  );
  const first = requests.at(-1);
  t.like(first, {
    protocol: 'messages',
    path: '/v1/messages',
    asked: 'any',
    stream: false,
    scenario: 'default',
    provider: 'p',
    model: 'm',
    usage: { input: 1, output: 1 },
    relayed: { request: false, reply: false },
    captured: false,
  });
  t.true((first?.firstByteMs ?? 0) > 0 && (first?.durationMs ?? 0) >= (first?.firstByteMs ?? 0));
  t.true((first?.overheadMs ?? -1) >= 0 && (first?.overheadMs ?? 0) <= (first?.firstByteMs ?? 0));
  t.like(requests[3], { asked: 'q,n', losses: [] });
  t.is(requests[3]?.provider, undefined);
  t.false(JSON.stringify(requests).includes(secret));
  const later = await get<{ requests: RequestSummary[] }>(rig, '/api/requests?after=4');
  t.deepEqual(
    later.requests.map(({ n }) => n),
    [6, 5],
  );
  for (const query of ['limit=0', 'limit=1001', 'after=-1', 'after=x', 'limit=1e2']) {
    t.is((await fetch(`${rig.baseUrl}/api/requests?${query}`)).status, 400, query);
  }
  const { lines, inFlightCount } = await get<{ lines: object[]; inFlightCount: number }>(rig, '/api/activity');
  t.is(inFlightCount, 0);
  t.like(
    lines.find((line) => (line as { model: string }).model === 'm'),
    { protocol: 'messages', provider: 'p', requests: 1, errors: 0 },
  );
  t.like(
    lines.find((line) => (line as { model: string }).model === 'cut'),
    { requests: 1, errors: 1 },
  );
  t.like(
    lines.find((line) => (line as { model: string }).model === 'slow'),
    { requests: 1, errors: 0, active: 0 },
  );
});

test('a relayed answer is captured too, byte for byte', async (t) => {
  const rig = await open(t, () => sseAnswer([...chatStream(['Hi'])]));
  const answer = await post(
    rig,
    '/v1/chat/completions',
    { model: 'p,m', stream: true, messages: hello.messages },
    asked,
  );
  const text = await answer.text();
  const { summary, capture } = await captured(rig, 'one');
  t.deepEqual(summary.relayed, { request: true, reply: true });
  t.is(capture?.upstream?.chunks.map((chunk) => chunk.text).join(''), text);
  t.is(capture?.reply.chunks.map((chunk) => chunk.text).join(''), text);
});

test('pieces that cut a character are kept byte for byte', async (t) => {
  const bytes = Buffer.from([...chatStream(['🙂'])].filter((piece) => typeof piece === 'string').join(''));
  const at = bytes.indexOf(Buffer.from('🙂')) + 2;
  const rig = await open(t, () => sseAnswer([bytes.subarray(0, at), 20, bytes.subarray(at)]));
  await (await post(rig, '/v1/messages', { ...hello, stream: true }, asked)).text();
  const { capture } = await captured(rig, 'one');
  const chunks = capture?.upstream?.chunks ?? [];
  t.is(typeof chunks[0]?.base64, 'string');
  t.deepEqual(
    Buffer.concat(chunks.map(({ text, base64 }) => (base64 ? Buffer.from(base64, 'base64') : Buffer.from(text ?? '')))),
    bytes,
  );
});

test('each failed request and one of a kind of loss are captured in part without being asked, unless that is off', async (t) => {
  const failing: Script = ({ body }) => {
    const { model } = Object(body);
    if (model === 'in-stream') return sseAnswer(['data: {"error":{"message":"not now"}}\n\n']);
    return model === 'n' ? jsonAnswer({ error: { message: `no, ${secret}` } }, 400) : jsonAnswer(chatReply('fine'));
  };
  const rig = await open(t, failing);
  const send = async (id: string, body: unknown): Promise<void> => {
    await (await post(rig, '/v1/messages', body, { 'x-request-id': id })).text();
  };
  const isCaptured = async (id: string): Promise<boolean> =>
    (await get<RequestDetail>(rig, `/api/requests/${id}`)).capture !== null;
  await send('plain', hello);
  await send('failed', { ...hello, model: 'p,n' });
  await send('failed-again', { ...hello, model: 'p,n' });
  await send('lossy', { ...hello, top_k: 3 });
  await send('lossy-again', { ...hello, top_k: 4 });
  await send('malformed', { ...hello, messages: 1 });
  t.deepEqual(
    await Promise.all(['plain', 'failed', 'failed-again', 'lossy', 'lossy-again', 'malformed'].map(isCaptured)),
    [false, true, true, true, false, true],
    'each failure, and one of each kind of loss a minute',
  );
  const { summary, capture } = await captured(rig, 'failed');
  t.like(summary, { status: 400, captured: true });
  t.like(capture, { unasked: true, truncated: false, upstream: { method: 'POST', status: 400, ended: 'complete' } });
  t.regex(capture?.upstream?.chunks[0]?.text ?? '', /^\{"error":\{"message":"no, [^"]+"\}\}$/);
  t.regex(capture?.reply.chunks[0]?.text ?? '', /"type":"error".*no, /);
  t.like(JSON.parse(capture?.client.body ?? ''), { model: 'p,n' });
  t.is(capture?.upstream?.body, rig.upstream.requests[1]?.text);
  t.false(JSON.stringify(capture).includes(secret));
  await send('in-stream', { ...hello, model: 'p,in-stream', stream: true });
  const { capture: inStream } = await captured(rig, 'in-stream');
  t.like(inStream?.upstream, { status: 200, ended: 'failed' });
  t.regex(inStream?.upstream?.chunks[0]?.text ?? '', /not now/);
  const { capture: lossy } = await captured(rig, 'lossy');
  t.deepEqual(
    lossy?.steps.flatMap(({ losses }) => losses.map(({ field }) => field)),
    ['top_k'],
  );
  t.is((await captured(rig, 'malformed')).capture?.upstream, null);

  const off = await open(t, failing, { HISTORY: { captureFailed: false } });
  await (await post(off, '/v1/messages', { ...hello, model: 'p,n' }, { 'x-request-id': 'failed' })).text();
  t.is((await get<RequestDetail>(off, '/api/requests/failed')).capture, null);
});

for (const [path, title] of [
  ['/v1/messages', 'converted'],
  ['/v1/chat/completions', 'passed through'],
] as const) {
  test(`an answer that breaks off after its beginning is captured without being asked: ${title}`, async (t) => {
    let hasBegun = (): void => {};
    const before = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    const rig = await open(t, ({ text }) =>
      text.includes('break')
        ? { ...sseAnswer([...chatStream(['Hel', 'lo'])].slice(0, 2), 'reset'), before }
        : sseAnswer(chatStream(['Hello'])),
    );
    const body = { ...hello, stream: true, messages: [{ role: 'user', content: 'break' }] };
    await (await post(rig, path, { ...hello, stream: true }, { 'x-request-id': 'well' })).text();
    const answer = await post(rig, path, body, { 'x-request-id': 'broken' });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('Hel')) hasBegun();
    }
    t.is((await get<RequestDetail>(rig, '/api/requests/well')).capture, null);
    const { summary, capture } = await captured(rig, 'broken');
    t.like(summary, { status: 200, fault: { kind: 'upstream-cut' } });
    t.like(capture, { unasked: true, upstream: { ended: 'failed', fault: { kind: 'upstream-cut' } } });
    t.deepEqual(JSON.parse(capture?.client.body ?? ''), body);
    t.is(capture?.upstream?.body, rig.upstream.requests[1]?.text);
  });
}

test('bodies kept for answers that may break off are bounded, each and together', (t) => {
  const room = new BodyRoom();
  const bytes = 2_097_152;
  t.false(room.keep(bytes + 1));
  t.deepEqual(
    Array.from({ length: 9 }, () => room.keep(bytes)),
    [...Array<boolean>(8).fill(true), false],
  );
  room.drop(bytes);
  t.true(room.keep(bytes));
});

test('captures are removed after their time, also those that nothing asks for', async (t) => {
  let nowMs = 0;
  const captures = new Captures(
    () => ({ captureMinutes: 2, captureFailed: true }),
    () => nowMs,
  );
  t.teardown(() => captures.clear());
  const add = (id: string, reason: CaptureReason): void =>
    captures.add({ ...blank, id }, new Recorder(client, 1_000), settings, reason);
  t.is(
    captures.takeLossy(() => 'a'),
    'a',
  );
  add('first', { type: 'lossy', kind: 'a' });
  add('failed', { type: 'failed' });
  nowMs = 59_999;
  t.is(
    captures.takeLossy(() => 'a'),
    undefined,
  );
  nowMs = 60_000;
  t.is(
    captures.takeLossy(() => 'a'),
    'a',
  );
  add('second', { type: 'asked' });
  t.truthy(await captures.findCompressed('first'));
  t.truthy(await captures.findCompressed('failed'));
  nowMs = 120_000;
  t.is(await captures.findCompressed('first'), undefined);
  t.is(await captures.findCompressed('failed'), undefined);
  t.is(captures.state().kept, 1);
  nowMs = 180_000;
  t.is(captures.state().kept, 0);
});

test('what a client asks for has a place of its own, and displaces no others', async (t) => {
  const captures = new Captures(() => ({ captureMinutes: 1, captureFailed: true }));
  t.teardown(() => captures.clear());
  const add = (id: string, reason: CaptureReason, bytes = 2): void => {
    const body = Buffer.alloc(bytes, '{}');
    captures.add({ ...blank, id }, new Recorder({ ...client, body }, 2 * maxCaptureBytes), settings, reason);
  };
  const kept = async (...ids: readonly string[]): Promise<readonly boolean[]> =>
    Promise.all(ids.map(async (id) => (await captures.findCompressed(id)) !== undefined));
  add('own', { type: 'asked' });
  add('other', { type: 'asked', client: 'other' });
  for (let n = 0; n < 60; n += 1) add(`one${n}`, { type: 'asked', client: 'one' });
  t.deepEqual(await kept('own', 'other', 'one49', 'one50', 'one59'), [true, true, false, true, true]);
  for (let n = 0; n < 10; n += 1) add(`large${n}`, { type: 'asked', client: 'one' }, maxCaptureBytes);
  t.deepEqual(await kept('own', 'other', 'one59', 'large9'), [true, true, false, true]);
  for (let n = 0; n < 30; n += 1) add(`many${n}`, { type: 'asked', client: `client${n}` });
  t.deepEqual(await kept('own', 'other', 'many9', 'many10', 'many29'), [true, false, false, true, true]);
  t.is(captures.state().kept, 1 + 20);
});

test('failures and kinds of losses are bounded, and displace no others', async (t) => {
  const captures = new Captures(() => ({ captureMinutes: 1, captureFailed: true }));
  t.teardown(() => captures.clear());
  const add = (id: string, reason: CaptureReason, bytes = 2): void =>
    captures.add(
      { ...blank, id },
      new Recorder({ ...client, body: Buffer.alloc(bytes, '{}') }, 2 * maxCaptureBytes),
      settings,
      reason,
    );
  const kept = async (...ids: readonly string[]): Promise<readonly boolean[]> =>
    Promise.all(ids.map(async (id) => (await captures.findCompressed(id)) !== undefined));
  add('asked', { type: 'asked' });
  for (let n = 0; n < 30; n += 1) add(`lossy${n}`, { type: 'lossy', kind: `${n}` });
  for (let n = 0; n < 220; n += 1) add(`failed${n}`, { type: 'failed' });
  t.is(captures.state().kept, 1 + 20 + 200);
  t.deepEqual(await kept('asked', 'lossy9', 'lossy10', 'failed19', 'failed20'), [true, false, true, false, true]);
  for (let n = 0; n < 40; n += 1) add(`large${n}`, { type: 'failed' }, maxCaptureBytes);
  t.true(captures.state().bytes <= 33_554_432 + 21 * maxCaptureBytes);
  t.deepEqual(await kept('asked', 'lossy10', 'failed219', 'large7', 'large8', 'large39'), [
    true,
    true,
    false,
    false,
    true,
    true,
  ]);
  t.true(captures.state().kept <= 1 + 20 + 32);
});

test('failures are compressed on the way, so that more of them fit', async (t) => {
  const captures = new Captures(() => ({ captureMinutes: 60, captureFailed: true }));
  t.teardown(() => captures.clear());
  const bytes = 65_536;
  for (let n = 0; n < 3; n += 1) {
    const body = Buffer.alloc(bytes, '{}');
    captures.add({ ...blank, id: `${n}` }, new Recorder({ ...client, body }, maxCaptureBytes), settings, {
      type: 'failed',
    });
  }
  t.is(captures.state().bytes, 3 * bytes);
  await until(() => captures.state().bytes < bytes);
  t.is(captures.state().kept, 3);
});

const client = { method: 'POST', path: '/', query: '', headers: {}, body: Buffer.from('{}') };
const settings = { secrets: [], variableOf: String, baseUrl: String };

const blank: RequestSummary = {
  n: 1,
  id: '',
  startedAt: 0,
  path: '/',
  protocol: 'messages',
  asked: '',
  stream: false,
  status: 200,
  durationMs: 1,
  losses: [],
  relayed: { request: false, reply: false },
  captured: true,
};

test('capturing goes on after a restart, until it is switched off', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-capture-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  await writeFile(join(home, 'config.json'), JSON.stringify({ PORT: 0, Providers: [] }));
  const run = async <T>(use: (baseUrl: string) => Promise<T>): Promise<T> => {
    const service = await start({ env: {}, home, port: 0, report: () => {} });
    try {
      return await use(service.baseUrl);
    } finally {
      await service.stop();
    }
  };
  const isOn = async (baseUrl: string): Promise<boolean> =>
    Object(await (await fetch(`${baseUrl}/api/capture`)).json()).on === true;
  const switchTo =
    (on: boolean) =>
    async (baseUrl: string): Promise<void> => {
      await fetch(`${baseUrl}/api/capture`, { method: 'POST', body: JSON.stringify({ on }) });
      await until(async () => existsSync(join(home, 'capture-all')) === on);
    };
  await run(switchTo(true));
  t.true(await run(isOn));
  await run(switchTo(false));
  t.false(await run(isOn));
});

test('a captured request has a title, of its last user turn or the tools whose results it brings; no file has it', async (t) => {
  const rig = await open(t, () => jsonAnswer(chatReply('Yes.')), { HISTORY: { days: 1 } });
  const turns = (content: unknown) => [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<reminder>same</reminder>' },
        { type: 'text', text: 'fix  the\n test' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] },
    { role: 'user', content },
  ];
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };
  const send = async (messages: unknown, capture: string): Promise<string | undefined> => {
    const answer = await post(
      rig,
      '/v1/messages',
      { model: 'any', max_tokens: 9, messages },
      { 'x-junctor-capture': capture },
    );
    await answer.text();
    const { requests } = await get<{ requests: readonly RequestSummary[] }>(rig, '/api/requests?limit=1');
    return requests[0]?.title;
  };
  t.is(await send(turns([result]).slice(0, 1), '1'), 'fix the test');
  t.is(await send(turns([result]), '1'), 'tool result: Bash');
  t.is(
    await send(turns([result, { type: 'text', text: `use ${secret} ${'x'.repeat(200)}` }]), '1'),
    `use *** ${'x'.repeat(200)}`.slice(0, 79).concat('…'),
  );
  t.is(await send(turns([result]), '0'), undefined);
  const { requests } = await get<{ requests: readonly RequestSummary[] }>(rig, '/api/history');
  t.is(requests.length, 4);
  t.true(requests.every((one) => one.title === undefined));
});
