import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { askBy, ways } from '../../../support/ways.ts';

const api = `import { answer, fail, machine, passOver, rx, transformer, whole } from 'junctor/transformer';\n`;
const text = `{ type: 'text', text: 'from the stage' }`;

/** A request half that fails, and an events half that leaves its mark. */
const both = `transformer({ name: 's', request() { throw new Error('secret'); },
    events: () => machine({ initial: () => ({}), step(state, event, out) { out.push(event.type === 'text-delta' ? { ...event, text: 'from the stage' } : event); } }) })`;

/** Stages that fail before they have given anything, in each form, each half and each way to fail. */
const failing: Readonly<Record<string, string>> = {
  'function-throws': `transformer({ name: 's', request() { throw new Error('secret'); } })`,
  'function-in-place': `transformer({ name: 's', request(request) { request.system.push(${text}); throw new Error('secret'); } })`,
  'function-invalid': `transformer({ name: 's', request: (request) => ({ ...request, turns: [{ role: 'user' }] }) })`,
  'function-fails': `transformer({ name: 's', request: () => fail('stage-failed', 'x') })`,
  'function-losses': `transformer({ name: 's', request(request, options, losses) { losses.drop('temperature'); throw new Error('secret'); } })`,
  'operator-throws': `transformer({ name: 's', operators: () => ({ request: rx.map(() => { throw new Error('secret'); }) }) })`,
  'operator-hangs': `transformer({ name: 's', operators: () => ({ request: () => rx.NEVER }) })`,
  'operator-empty': `transformer({ name: 's', operators: () => ({ request: () => rx.EMPTY }) })`,
  'operator-two': `transformer({ name: 's', operators: () => ({ request: rx.repeat(2) }) })`,
  class: `class Stage { name = 's'; request() { throw new Error('secret'); } }\nexport default new Stage()`,
  'class-call': `class Stage { name = 's'; call() { throw new Error('secret'); } }\nexport default new Stage()`,
  'call-throws': `transformer({ name: 's', call() { throw new Error('secret'); } })`,
  'call-invalid': `transformer({ name: 's', call: () => ({ body: 'x' }) })`,
  'machine-start': `transformer({ name: 's', events: () => machine({ initial() { throw new Error('secret'); }, step() {} }) })`,
  'machine-step': `transformer({ name: 's', events: () => machine({ initial: () => ({}), step(state, event, out) { out.push(event); throw new Error('secret'); } }) })`,
  'machine-invalid': `transformer({ name: 's', events: () => machine({ initial: () => ({}), step(state, event, out) { out.push({ ...event, index: 7, type: 'text-delta' }); } }) })`,
  'machine-late': `transformer({ name: 's', events: () => machine({ initial: () => ({ all: [] }), step({ all }, event) { all.push(event); }, end() { throw new Error('secret'); } }) })`,
  'events-throw': `transformer({ name: 's', operators: () => ({ events: rx.map(() => { throw new Error('secret'); }) }) })`,
  'events-throw-at-once': `transformer({ name: 's', operators: () => ({ events: () => { throw new Error('secret'); } }) })`,
  'events-hang': `transformer({ name: 's', operators: () => ({ events: (source) => rx.concat(source.pipe(rx.ignoreElements()), rx.NEVER) }) })`,
  'events-leave': `transformer({ name: 's', operators: () => ({ events: (source) => source.pipe(rx.take(1), rx.ignoreElements()) }) })`,
  'events-unread': `transformer({ name: 's', operators: () => ({ events: () => rx.timer(5).pipe(rx.map(() => { throw new Error('secret'); })) }) })`,
  'events-later': `transformer({ name: 's', operators: () => ({ events: (source) => rx.timer(5).pipe(rx.mergeMap(() => source), rx.toArray(), rx.map(() => { throw new Error('secret'); })) }) })`,
  'events-odd': `transformer({ name: 's', operators: () => ({ events: rx.map(() => 'text') }) })`,
  'both-halves': both,
  'both-halves-wrapped': both,
  'around-throws': `transformer({ name: 's', around() { throw new Error('secret'); } })`,
  'around-rejects': `transformer({ name: 's', around: async () => { throw new Error('secret'); } })`,
  'around-hangs': `transformer({ name: 's', around: () => rx.NEVER })`,
  'around-empty': `transformer({ name: 's', around: () => rx.EMPTY })`,
  'around-odd': `transformer({ name: 's', around: () => 'text' })`,
  'around-question': `transformer({ name: 's', around: async (request, next, context) => { await context.ask('p,failing', 'x'); return next(request); } })`,
  'around-no-leave': `transformer({ name: 's', around: async (request, next, context) => { await context.ask('p,other', 'x'); return next(request); } })`,
  'around-prepares': `transformer({ name: 's', around(request, next) { next(request); throw new Error('secret'); } })`,
};

/** Stages that fail when it is too late to go on, and stages that refuse on purpose. */
const ending: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  'late-events': [
    `transformer({ name: 's', operators: () => ({ events: rx.concatMap((batch, index) => batch.map((event) => { if (event.type === 'message-stop') throw new Error('secret'); return [event]; })) }) })`,
    /Transformer "s" failed on the answer/,
  ],
  'late-around': [
    `transformer({ name: 's', around: (request, next) => next(request).pipe(rx.map(() => { throw new Error('secret'); })) })`,
    /Transformer "s" failed in around/,
  ],
  'given-around': [
    `transformer({ name: 's', around: () => rx.concat(answer('x').pipe(rx.map((batch) => batch.slice(0, 3))), rx.throwError(() => new Error('secret'))) })`,
    /Transformer "s" failed in around/,
  ],
  refuses: [`transformer({ name: 's', request: () => fail('invalid-request', 'no tea today') })`, /no tea today/],
  'refuses-answer': [
    `transformer({ name: 's', operators: () => ({ events: rx.map(() => fail('invalid-request', 'no tea today')) }) })`,
    /no tea today/,
  ],
  'refuses-around': [
    `transformer({ name: 's', around: () => fail('invalid-request', 'no tea today') })`,
    /no tea today/,
  ],
};

/** An answer of 5 MiB. */
const longPieces = Array.from({ length: 80 }, () => 'x'.repeat(65_536));

const endless = function* (): Iterable<string | number> {
  for (;;) yield* [...chatStream(['one '], 5)].slice(0, 2);
};

const moduleOf = (source: string): string =>
  api + (source.includes('export default') ? source : `export default ${source};`);

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const asked = Object(body);
    if (asked.model === 'failing')
      return { status: 400, headers: { 'content-type': 'application/json' }, pieces: ['{"error":{"message":"no"}}'] };
    if (asked.model === 'silent') return 'never';
    if (asked.messages.at(-1).content === 'long') return sseAnswer(chatStream(longPieces, 0));
    if (asked.model === 'own') return sseAnswer(endless());
    return asked.stream ? sseAnswer(chatStream(['one ', 'two ', 'three'], 1)) : jsonAnswer(chatReply('one two three'));
  });
  const sources: Readonly<Record<string, string>> = {
    ...failing,
    ...Object.fromEntries(Object.entries(ending).map(([name, [source]]) => [name, source])),
    'wraps-both': `transformer({ name: 'wraps', around: (request, next) => next(request) })`,
    fails: `transformer({ name: 's', request() { throw new Error('secret'); } })`,
    marks: `transformer({ name: 'marks', request: (request) => ({ ...request, system: [...request.system, { type: 'text', text: 'marked' }] }) })`,
    waits: `transformer({ name: 's', async around(request, next, context) {
      context.signal.addEventListener('abort', () => { globalThis.waitsAborted = true; });
      await context.ask('p,silent', 'a question', { limitMs: 600_000 }).catch(({ message }) => { globalThis.waitsHeard = message; });
      return next(request);
    } })`,
    gathers: `transformer({ name: 's', operators: () => ({ events: (source) => source.pipe(rx.toArray(), rx.map(() => { throw new Error('secret'); })) }) })`,
    own: `transformer({ name: 's', operators: () => ({ events: (source) => source.pipe(rx.take(1), rx.mergeMap(() => answer('my own'))) }) })`,
    holds: `transformer({ name: 's', operators: () => ({ events: (source) => rx.concat(source.pipe(rx.ignoreElements()), rx.NEVER) }) })`,
  };
  gateway = await startGateway(
    {
      // All of a file's tests run at once: on a busy machine, a stage's turn may come late.
      TIMEOUTS: { stageMs: 600_000 },
      RETRY: { attempts: 0 },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', ...Object.keys(sources)] }],
      transformers: Object.keys(sources).map((name) => ({
        path: `${name}.mjs`,
        ...(name !== 'marks' && { models: [name === 'wraps-both' ? 'both-halves-wrapped' : name] }),
        ...(name !== 'fails' && { onError: 'skip' }),
        timeoutMs: name === 'holds' ? 600_000 : /hang|waits/.test(name) ? 40 : 20_000,
        ask: ['p,failing', 'p,silent'],
      })),
    },
    {},
    {
      files: Object.fromEntries(Object.entries(sources).map(([name, source]) => [`${name}.mjs`, moduleOf(source)])),
    },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

interface Row {
  readonly model?: string;
  readonly status: number;
  readonly losses: readonly { readonly field: string; readonly step: string; readonly note?: string }[];
}

const rows = async (): Promise<readonly Row[]> => {
  const listed = await request(`${gateway.baseUrl}/api/requests?limit=1000`);
  return Object(await listed.body.json()).requests;
};

const names = [...Object.keys(failing), ...Object.keys(ending)];
const entryOf = (name: string): string => `transformers[${names.indexOf(name)}]`;

for (const way of ways) {
  for (const name of Object.keys(failing)) {
    test(`${way}: ${name}, the request goes on without the stage`, async (t) => {
      const { raw, said, isWhole, status } = await askBy(t, gateway.baseUrl, way, { model: `p,${name}` });
      t.is(said, 'one two three', raw);
      t.true(isWhole, raw);
      t.is(status, 200);
      t.notRegex(raw, /secret|from the stage/);
      const call = upstream.requests.findLast(({ body }) => Object(body).model === name);
      t.regex(call?.text ?? '', /marked/, 'stages after it run');
      t.notRegex(call?.text ?? '', /from the stage/);
    });
  }
  for (const [name, [, message]] of Object.entries(ending)) {
    test(`${way}: ${name}, the request fails`, async (t) => {
      const { raw, isWhole } = await askBy(t, gateway.baseUrl, way, { model: `p,${name}` });
      // A whole answer is one batch: the stage has given nothing when it fails on its end.
      if (name === 'late-events' && !/streamed|socket/.test(way)) t.true(isWhole, raw);
      else {
        t.regex(raw, message);
        t.false(isWhole, raw);
      }
    });
  }
  test(`${way}: without \`onError\`, the request fails`, async (t) => {
    const { raw, isWhole } = await askBy(t, gateway.baseUrl, way, { model: 'p,fails' });
    t.regex(raw, /Transformer "s" failed on the request/);
    t.false(isWhole, raw);
  });
}

test('the history and the log name the stage that was left out, and nothing of what it had recorded', async (t) => {
  for (const name of ['function-losses', 'events-throw', 'around-throws']) {
    const { losses } = await askBy(t, gateway.baseUrl, 'chat streamed', { model: `p,${name}` });
    if (name === 'function-losses') t.is(losses, `dropped: ${entryOf(name)}`);
  }
  const all = await rows();
  const log = await readFile(join(gateway.home, 'app.log'), 'utf8');
  for (const name of ['function-losses', 'events-throw', 'around-throws']) {
    const row = all.find(({ model }) => model === name);
    t.is(row?.status, 200);
    t.deepEqual(
      row?.losses.map(({ field, step }) => [field, step]),
      [[entryOf(name), 's']],
    );
    t.regex(row?.losses[0]?.note ?? '', /Transformer "s" failed .* left out|left out: Transformer "s" failed/);
  }
  for (const message of ['failed on the request', 'failed on the answer', 'failed in around']) {
    const said = `Transformer \\"s\\" ${message}. It was left out, as its entry says.`;
    t.true(
      log.split('\n').some((line) => line.includes(said) && line.includes('Error: secret')),
      said,
    );
  }
});

test('an answer that is too long to hold fails with the stage; a shorter one goes on', async (t) => {
  const [long, short] = await Promise.all([
    askBy(t, gateway.baseUrl, 'chat streamed', { model: 'p,gathers', text: 'long' }),
    askBy(t, gateway.baseUrl, 'chat streamed', { model: 'p,gathers' }),
  ]);
  t.regex(long.raw.slice(0, 1_000), /Transformer "s" failed on the answer/);
  t.is(short.said, 'one two three');
});

test('a stage that gives its own answer and leaves its input ends the call', async (t) => {
  const { said } = await askBy(t, gateway.baseUrl, 'chat streamed', { model: 'p,own' });
  t.is(said, 'my own');
  await upstream.requests.findLast(({ body }) => Object(body).model === 'own')?.closed;
});

test('explain has a warning with the cause and its place', async (t) => {
  const body = { model: 'p,function-throws', messages: [{ role: 'user', content: 'x' }] };
  const answer = await request(`${gateway.baseUrl}/api/explain`, {
    method: 'POST',
    body: JSON.stringify({ client: 'chat', body }),
  });
  const { warnings, losses } = Object(await answer.body.json());
  t.regex(
    warnings.join(),
    /"s" failed on the request\. It was left out.*: Error: secret \(.*function-throws\.mjs:2:\d+\)/,
  );
  t.like(losses[0], { path: entryOf('function-throws'), outcome: 'dropped', step: 's' });
});

test('a question of a stage that is left out ends, and its signal aborts', async (t) => {
  const { said } = await askBy(t, gateway.baseUrl, 'chat streamed', { model: 'p,waits' });
  t.is(said, 'one two three');
  await until(() => 'waitsHeard' in globalThis);
  t.true('waitsAborted' in globalThis);
  await upstream.requests.findLast(({ text: sent }) => sent.includes('a question'))?.closed;
});

test.serial('a client that leaves while a stage holds the answer ends the call over HTTP', async (t) => {
  const controller = new AbortController();
  const before = upstream.requests.length;
  const asked = request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    signal: controller.signal,
    body: JSON.stringify({ model: 'p,holds', stream: true, messages: [{ role: 'user', content: 'x' }] }),
  }).catch(() => undefined);
  await until(() => upstream.requests.length > before);
  controller.abort();
  await asked;
  await upstream.requests.at(-1)?.closed;
  await until(async () => (await rows())[0]?.status === 499);
  t.pass();
});

test.serial('a client that leaves while a stage holds the answer ends the call over WebSocket', async (t) => {
  const before = upstream.requests.length;
  const socket = new WebSocket(`${gateway.baseUrl.replace('http', 'ws')}/v1/responses`);
  t.teardown(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'response.create', model: 'p,holds', input: 'x' }));
  await until(() => upstream.requests.length > before);
  socket.terminate();
  await upstream.requests.at(-1)?.closed;
  await until(async () => (await rows())[0]?.status === 499);
  t.pass();
});
