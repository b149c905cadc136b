import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const stage = (around: string): string =>
  `import { answer, rx, replay, transformer, untilContent, whole } from 'junctor/transformer';
   let kept;
   export default transformer({ name: 'stage', async around(request, next, context) { ${around} } });`;

/** What each stage does wrong, and what the client reads of it. */
const faults: Readonly<Record<string, readonly [around: string, message: RegExp]>> = {
  'no-leave': [
    `await context.ask('p,secret', 'x'); return next(request);`,
    /"stage.*ask\(.*p,secret.*no leave: transformers\[\d+\].*"ask/,
  ],
  'to-no-leave': [`return next(request, { to: 'p,secret' });`, /"stage.*next\(.*to:.*p,secret.*no leave/],
  unsubscribed: [`next(request); return rx.EMPTY;`, /"stage.*around.*omitted the end.*never subscribed to `next`/],
  unending: [
    `next(request); return rx.NEVER;`,
    /"stage.*around.*emitted nothing for \d+ ms.*never subscribed to `next`/,
  ],
  'no-answer': [`return 'hello';`, /"stage.*around.*something other than an answer/],
  disorder: [
    `return rx.concat(next(request), next(request)).pipe(
       rx.map((batch) => batch.filter(({ type }) => type !== 'message-stop')));`,
    /"stage.*around, event \d+ of its answer.*started the answer twice/,
  ],
  'bad-request': [
    `return next({ ...request, turns: [{ role: 'user' }] });`,
    /"stage.*next.*invalid request: turns\[0\]/,
  ],
  circle: [
    `const part = { type: 'text', text: 'x' }; part.extra = part; return next({ ...request, turns: [{ role: 'user', parts: [part] }] });`,
    /"stage.*next/,
  ],
  full: [
    `for (let n = 0; n < 100; n += 1) context.memory.set('k' + n, 'x'.repeat(250_000), { ms: 600_000 }); return next(request);`,
    /"stage.*memory\.set.*memory is full/,
  ],
  large: [
    `context.memory.set('k', 'x'.repeat(300_000), { ms: 9 }); return next(request);`,
    /"stage.*memory\.set.*300002 characters/,
  ],
  silent: [
    `await context.ask('p,silent', 'x', { limitMs: 50 }); return next(request);`,
    /"stage.*ask\(.*p,silent.*no whole answer within 50 ms/,
  ],
  'many-calls': [
    `for (let n = 0; n < 20; n += 1) await context.ask('p,m', 'x' + n); return next(request);`,
    /"stage.*ask\(.*one too many/,
  ],
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const asked = Object(body);
    if (asked.model === 'silent') return 'never';
    if (asked.model === 'midway') return sseAnswer([...chatStream(['half', 'way'])].slice(0, 2), 'stall');
    const text = `${asked.model} heard ${asked.messages.at(-1).content}`;
    return asked.stream ? sseAnswer(chatStream([...text], 0)) : jsonAnswer(chatReply(text));
  });
  const names = Object.keys(faults);
  gateway = await startGateway(
    {
      // All of a file's tests run at once: on a busy machine, a stage's turn may come late.
      TIMEOUTS: { stageMs: 600_000 },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      RETRY: { attempts: 0 },
      transformers: [
        ...names.map((name) => ({
          path: `${name}.ts`,
          models: [name],
          ask: ['p,silent', 'p,m'],
          ...(name === 'unending' && { timeoutMs: 1_000 }),
        })),
        { path: 'echo.ts', models: ['echo'] },
        { path: 'late.ts', models: ['late'] },
        { path: 'midway.ts', models: ['midway'] },
        { path: 'throws.ts', models: ['throws'] },
        { path: 'child.ts', name: 'child', models: ['child'], ask: ['p,m'] },
        { path: 'pending.ts', models: ['pending'], ask: ['p,m', 'p,silent'] },
      ],
    },
    {},
    {
      files: {
        ...Object.fromEntries(names.map((name) => [`${name}.ts`, stage(faults[name]?.[0] ?? '')])),
        // All that it knows of a request lives between the request and the answer.
        'echo.ts': stage(`const { text } = request.turns[0].parts[0];
          return whole(next(request)).pipe(rx.delay(20), rx.mergeMap((reply) => answer(text + '|' + reply.text)));`),
        'late.ts': stage(`const again = next(request);
          const { events } = await rx.firstValueFrom(whole(again));
          context.signal.addEventListener('abort', () =>
            again.subscribe({ error: ({ message }) => { globalThis.stageWasLate = message; } }));
          return replay(events);`),
        'throws.ts': stage(`throw new Error('canary');`),
        'midway.ts': stage(`return next(request).pipe(untilContent);`),
        'child.ts': stage(`context.log('asks', { about: 'tea' });
          const first = await context.ask('p,m', 'tea');
          return whole(next(request)).pipe(rx.mergeMap(({ text }) => answer(first.route + ': ' + text)));`),
        'pending.ts': stage(
          `await context.ask('p,m', 'first'); await context.ask('p,silent', 'second', { limitMs: 600_000 }); return next(request);`,
        ),
      },
    },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

interface Row {
  readonly id: string;
  readonly model?: string;
  readonly session?: string;
  readonly cause?: { readonly id: string };
}

const ask = async (model: string, stream: boolean, content = 'x', signal?: AbortSignal) => {
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: `p,${model}`, stream, messages: [{ role: 'user', content }] }),
    ...(signal && { signal }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

for (const [name, [, message]] of Object.entries(faults)) {
  for (const stream of [false, true]) {
    test(`${name}, ${stream ? 'streamed' : 'whole'}: one clear error that names the stage and the place`, async (t) => {
      const { status, text } = await ask(name, stream);
      const said = text.replaceAll('\\"', '"').replaceAll('\\\\', '');
      t.regex(said, message);
      if (!(stream && name === 'disorder')) t.is(status, 500, text);
    });
  }
}

/** The same in the other protocols: how they ask, and the kind of error that they have for it. */
const otherWires = {
  '/v1/messages': [{ max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }, /"type":"api_error"/],
  '/v1/responses': [{ input: 'x' }, /"(?:code|type)":"(?:server_error|api_error|internal_error)"/],
} as const;

for (const [path, [body, kind]] of Object.entries(otherWires)) {
  for (const name of ['no-leave', 'unsubscribed', 'disorder']) {
    for (const stream of [false, true]) {
      test(`${path}: ${name}, ${stream ? 'streamed' : 'whole'}: the error is the protocol's own`, async (t) => {
        const answer = await request(`${gateway.baseUrl}${path}`, {
          method: 'POST',
          body: JSON.stringify({ ...body, model: `p,${name}`, stream }),
        });
        const text = await answer.body.text();
        t.regex(text.replaceAll('\\"', '"').replaceAll('\\\\', ''), faults[name]?.[1] ?? /./);
        t.regex(text, kind);
        t.is(answer.statusCode, stream && name === 'disorder' ? 200 : 500);
      });
    }
  }
}

test('what a stage throws is told in the log, with its place, and not to the client', async (t) => {
  const { text, status } = await ask('throws', false);
  t.is(status, 500);
  t.regex(text, /Transformer \\"stage\\" failed in around\./);
  t.notRegex(text, /canary/);
  const line = async () =>
    (await readFile(join(gateway.home, 'app.log'), 'utf8')).split('\n').find((one) => one.includes('canary'));
  await until(async () => (await line()) !== undefined);
  t.regex((await line()) ?? '', /throws\.ts\?[^:]*:\d+/);
});

test('a call after the end fails, and names the stage', async (t) => {
  await ask('late', false);
  await until(() => 'stageWasLate' in globalThis);
  t.regex(String(Object(globalThis).stageWasLate), /"stage".*next.*after the answer had ended/);
});

test('a question is a request of its own in the history, which names its cause', async (t) => {
  const { text } = await ask('child', false, 'about tea');
  t.regex(text, /p,m: child heard about tea/);
  const listed = await request(`${gateway.baseUrl}/api/requests`);
  const rows: readonly Row[] = Object(await listed.body.json()).requests;
  const asked = rows.find(({ model }) => model === 'child');
  t.truthy(asked);
  const own = rows.filter(({ cause }) => cause !== undefined && cause.id === asked?.id);
  t.like(own, [{ model: 'm', status: 200, cause: { stage: 'stage', kind: 'ask' } }]);
  t.is(own[0]?.session, asked?.session);
});

test('20 requests at the same time never see each other’s state', async (t) => {
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
  const answers = await Promise.all(texts.map((text) => ask('echo', false, text)));
  t.deepEqual(
    answers.map(({ text }) => JSON.parse(text).choices[0].message.content),
    texts.map((text) => `${text}|echo heard ${text}`),
  );
});

const second = () => upstream.requests.filter(({ text }) => text.includes('second'));

test.serial('a client that leaves between two questions over HTTP ends the second', async (t) => {
  const before = second().length;
  const controller = new AbortController();
  const asked = ask('pending', false, 'x', controller.signal).catch(() => undefined);
  await until(() => second().length > before);
  controller.abort();
  await asked;
  await second().at(-1)?.closed;
  t.pass();
});

test.serial('a client that leaves between two questions over WebSocket ends the second', async (t) => {
  const before = second().length;
  const socket = new WebSocket(`${gateway.baseUrl.replace('http', 'ws')}/v1/responses`);
  t.teardown(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'response.create', model: 'p,pending', input: 'x' }));
  await until(() => second().length > before);
  socket.terminate();
  await second().at(-1)?.closed;
  t.pass();
});

const midway = () => upstream.requests.filter(({ text }) => text.includes('"midway"'));

test.serial('a client that leaves in the middle of an answer over HTTP ends the call', async (t) => {
  const controller = new AbortController();
  const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
    method: 'POST',
    signal: controller.signal,
    body: JSON.stringify({ model: 'p,midway', input: 'x', stream: true }),
  });
  const reader = answer.body?.getReader();
  let text = '';
  while (!text.includes('half')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  controller.abort();
  await midway().at(-1)?.closed;
  t.pass();
});

test.serial('a client that leaves in the middle of an answer over WebSocket ends the call', async (t) => {
  const before = midway().length;
  const socket = new WebSocket(`${gateway.baseUrl.replace('http', 'ws')}/v1/responses`);
  t.teardown(() => socket.terminate());
  const half = new Promise<void>((resolve) =>
    socket.on('message', (data) => {
      if (String(data).includes('half')) resolve();
    }),
  );
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'response.create', model: 'p,midway', input: 'x' }));
  await half;
  socket.terminate();
  await midway()[before]?.closed;
  t.is(midway().length, before + 1);
});
