import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

/** A custom stage that goes wrong fails its own request, under its name, in the client's own error shape; no other request. */
const limitMs = 200;

const api = `import { fail, machine, rx, transformer, Type } from 'junctor/transformer';\n`;

/** Modules that go wrong on a request. */
const onRequest: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  'throws.js': [`export default { name: 'throws', request() { throw new Error('secret') } };`, /failed on the request/],
  'promises.js': [
    `export default { name: 'promises', async request(r) { return r } };`,
    /returned a promise instead of a request/,
  ],
  'forgets.js': [`export default { name: 'forgets', request(r) {} };`, /returned nothing instead of a request/],
  'op-throws.js': [
    `export default { name: 'op-throws', operators: { request: rx.map(() => { throw new Error('secret') }) } };`,
    /failed on the request/,
  ],
  'op-at-once.js': [
    `export default { name: 'op-at-once', operators: { request: () => { throw new Error('secret') } } };`,
    /failed on the request/,
  ],
  'op-hangs.js': [
    `export default { name: 'op-hangs', operators: { request: () => rx.NEVER } };`,
    /did not finish with the request within 200 ms/,
  ],
  'op-stays.js': [
    `export default { name: 'op-stays', operators: { request: rx.mergeWith(rx.NEVER) } };`,
    /did not finish with the request within 200 ms/,
  ],
  'op-empty.js': [
    `export default { name: 'op-empty', operators: { request: () => rx.EMPTY } };`,
    /returned no request/,
  ],
  'op-endless.js': [
    `export default { name: 'op-endless', operators: { request: rx.switchMap((r) => rx.interval(5).pipe(rx.map(() => r))) } };`,
    /returned more than one request|did not finish with the request/,
  ],
  'op-number.js': [
    `export default { name: 'op-number', operators: { request: rx.map(() => 5) } };`,
    /returned an invalid request: a request must be object/,
  ],
  'p2-content.js': [
    `export default { name: 'p2-content', request: (r) => ({ ...r, turns: [{ role: 'user', content: 'hi' }] }) };`,
    /returned an invalid request: turns\[0\]\.parts is required/,
  ],
  'p2-strings.js': [
    `export default { name: 'p2-strings', request: (r) => ({ ...r, turns: [{ role: 'user', parts: ['hi'] }] }) };`,
    /returned an invalid request: turns\[0\]\.parts\[0\] must be object/,
  ],
  'p2-tools.js': [
    `export default { name: 'p2-tools', request: (r) => ({ ...r, tools: [{ name: 'x', input_schema: {} }] }) };`,
    /returned an invalid request: tools\[0\]\.type is required/,
  ],
  'p2-nan.js': [
    `export default { name: 'p2-nan', request: (r) => ({ ...r, temperature: NaN }) };`,
    /returned an invalid request: temperature must be number/,
  ],
  'p2-choice.js': [
    `export default { name: 'p2-choice', request: (r) => ({ ...r, toolChoice: 'auto' }) };`,
    /returned an invalid request: toolChoice must be object/,
  ],
  'p2-circle.js': [
    `export default { name: 'p2-circle', operators: { request: rx.map((r) => {
      const parameters = {}; parameters.self = parameters;
      return { ...r, tools: [{ type: 'function', name: 'x', parameters }] }; }) } };`,
    /returned an invalid request: tools\[0\]\.parameters must be JSON/,
  ],
  'p2-kind.js': [
    `export default { name: 'p2-kind', request() { fail('nonsense', 'x') } };`,
    /failed on the request: its fault is of the unknown kind/,
  ],
};

/** Modules that go wrong on an answer, and whether they do before the client has got anything. */
const onAnswer: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  'machine-start.js': [
    `export default { name: 'machine-start', events: { start() { throw new Error('secret') } } };`,
    /failed on the answer/,
  ],
  'machine-step.js': [
    `export default { name: 'machine-step', events: machine({ initial: () => ({ n: 0 }), step(s, e, out) {
      if (e.type === 'text-delta' && ++s.n === 2) throw new Error('secret'); out.push(e); } }) };`,
    /failed on the answer/,
  ],
  'machine-end.js': [
    `export default { name: 'machine-end', events: machine({ initial: () => ({}), step(s, e, out) {
      if (e.type !== 'message-stop') out.push(e); }, end() { throw new Error('secret') } }) };`,
    /failed on the answer/,
  ],
  'machine-order.js': [
    `export default { name: 'machine-order', events: machine({ initial: () => ({}), step(s, e, out) {
      out.push(e.type === 'text-delta' ? { ...e, index: 7 } : e); } }) };`,
    /gave text-delta of block 7 out of order/,
  ],
  'ev-throws.js': [
    `export default { name: 'ev-throws', operators: { events: rx.map((batch, n) => { if (n === 1) throw new Error('secret'); return batch }) } };`,
    /failed on the answer/,
  ],
  'ev-at-once.js': [
    `export default { name: 'ev-at-once', operators: { events: () => { throw new Error('secret') } } };`,
    /failed on the answer/,
  ],
  'ev-nothing.js': [
    `export default { name: 'ev-nothing', operators: { events: () => undefined } };`,
    /failed on the answer/,
  ],
  'ev-hangs.js': [
    `export default { name: 'ev-hangs', operators: { events: (source) => rx.merge(source.pipe(rx.take(1)), rx.NEVER) } };`,
    /did not end within 200 ms after its input/,
  ],
  'ev-stays.js': [
    `export default { name: 'ev-stays', operators: { events: (source) =>
      rx.merge(source.pipe(rx.map((batch) => batch.filter((e) => e.type !== 'message-stop'))), rx.NEVER) } };`,
    /did not end within 200 ms after its input/,
  ],
  'ev-endless.js': [
    `export default { name: 'ev-endless', operators: { events: (source) => rx.merge(
      source.pipe(rx.map((batch) => batch.filter((e) => e.type !== 'message-stop' && e.type !== 'block-stop'))),
      rx.interval(10).pipe(rx.skip(8), rx.map(() => [{ type: 'text-delta', index: 0, text: 'more' }]))) } };`,
    /did not end within 200 ms after its input/,
  ],
  'ev-short.js': [
    `export default { name: 'ev-short', operators: { events: rx.take(1) } };`,
    /omitted the end of the answer/,
  ],
  'ev-number.js': [
    `export default { name: 'ev-number', operators: { events: rx.map(() => 5) } };`,
    /emitted something other than a batch of events, which is an array/,
  ],
  'p2-text.js': [
    `export default { name: 'p2-text', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'text-delta' ? { type: 'text-delta', index: 0 } : e) } }) };`,
    /gave an invalid text-delta: text is required/,
  ],
  'p2-wrong.js': [
    `export default { name: 'p2-wrong', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'text-delta' ? { type: 'input-delta', index: 0, json: '{}' } : e) } }) };`,
    /gave input-delta in a text block/,
  ],
  'p2-finish.js': [
    `export default { name: 'p2-finish', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'message-stop' ? { type: e.type, finish: 'stop', usage: {} } : e) } }) };`,
    /gave an invalid message-stop: finish must be one of/,
  ],
  'p2-usage.js': [
    `export default { name: 'p2-usage', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'message-stop' ? { type: e.type, finish: 'end' } : e) } }) };`,
    /gave an invalid message-stop: usage is required/,
  ],
  'p2-error.js': [
    `export default { name: 'p2-error', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'text-delta' ? { type: 'error', message: 'x' } : e) } }) };`,
    /gave an invalid error: fault is required/,
  ],
  'p2-id.js': [
    `export default { name: 'p2-id', events: machine({ initial: () => ({}), step(s, e, out) { out.push(e.type === 'block-start' ? { ...e, block: { type: 'tool-call', name: 'x' } } : e) } }) };`,
    /gave an invalid block-start: block\.id is required/,
  ],
  'p2-undefined.js': [
    `export default { name: 'p2-undefined', operators: { events: rx.map((batch) => [undefined, ...batch]) } };`,
    /gave something other than an event/,
  ],
  'p2-string.js': [
    `export default { name: 'p2-string', operators: { events: rx.map((batch) => ['text', ...batch]) } };`,
    /gave something other than an event/,
  ],
};

const modules = { ...onRequest, ...onAnswer };
const nameOf = (file: string): string => file.replace('.js', '');

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) =>
    Object(body).stream ? sseAnswer(chatStream(['one ', 'two ', 'three'])) : jsonAnswer(chatReply('one two three')),
  );
  gateway = await startGateway(
    {
      TIMEOUTS: { stageMs: limitMs },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['plain', ...Object.keys(modules)] }],
      transformers: Object.keys(modules).map((file) => ({ path: `stages/${file}`, models: [nameOf(file)] })),
    },
    {},
    {
      files: Object.fromEntries(Object.entries(modules).map(([file, [source]]) => [`stages/${file}`, api + source])),
    },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const bodies = {
  '/v1/messages': { max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/responses': { input: 'hi' },
} as const;
type Route = keyof typeof bodies;
// The tuple's own words, so that each is a route.
const routes: readonly Route[] = ['/v1/messages', '/v1/chat/completions', '/v1/responses'];

const ask = async (route: Route, model: string, stream: boolean) => {
  const answer = await request(`${gateway.baseUrl}${route}`, {
    method: 'POST',
    body: JSON.stringify({ ...bodies[route], model: `p,${model}`, stream }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

const goodEnds: Readonly<Record<Route, string>> = {
  '/v1/messages': 'message_stop',
  '/v1/chat/completions': '[DONE]',
  '/v1/responses': 'response.completed',
};
const badEnds: Readonly<Record<Route, RegExp>> = {
  '/v1/messages': /event: error\ndata: .*\n\n$/,
  '/v1/chat/completions': /data: \{"error":.*\n\n$/,
  '/v1/responses': /event: response\.failed\ndata: .*\n\n$/,
};

for (const route of routes) {
  for (const [file, [, message]] of Object.entries(onRequest)) {
    for (const stream of [true, false]) {
      test(`R17 ${route}: ${file} fails the request (stream: ${stream})`, async (t) => {
        const [got, other] = await Promise.all([ask(route, nameOf(file), stream), ask(route, 'plain', stream)]);
        t.is(got.status, 500, got.text);
        t.regex(got.text, new RegExp(`Transformer \\\\"${nameOf(file)}\\\\" (${message.source})`));
        t.notRegex(got.text, /secret/);
        t.is(other.status, 200);
        t.regex(other.text, /three/);
      });
    }
  }

  for (const [file, [, message]] of Object.entries(onAnswer)) {
    test(`R17 ${route}: ${file} fails the answer`, async (t) => {
      const words = new RegExp(`Transformer \\\\"${nameOf(file)}\\\\" (${message.source})`);
      const [streamed, whole, other] = await Promise.all([
        ask(route, nameOf(file), true),
        ask(route, nameOf(file), false),
        ask(route, 'plain', true),
      ]);
      t.regex(streamed.text, words);
      t.notRegex(streamed.text, /secret/);
      t.false(streamed.text.includes(goodEnds[route]), 'no end that looks good');
      if (streamed.status === 200) t.regex(streamed.text, badEnds[route]);
      else t.is(streamed.status, 500);
      t.true(other.text.includes(goodEnds[route]));
      // A batch more or less makes the difference for some: a whole reply is one.
      if (whole.status !== 200) t.regex(whole.text, words);
      else t.true(['ev-throws.js', 'machine-step.js', 'ev-hangs.js', 'ev-short.js'].includes(file), file);
    });
  }
}

test('R17 what went before the fault reaches the client', async (t) => {
  const { status, text } = await ask('/v1/messages', 'machine-step', true);
  t.is(status, 200);
  t.regex(text, /one /);
  t.notRegex(text, /two /);
});

test('app.log has the cause, with its stack', async (t) => {
  await ask('/v1/chat/completions', 'ev-throws', true);
  await ask('/v1/chat/completions', 'throws', true);
  const log = await readFile(join(gateway.home, 'app.log'), 'utf8');
  const lines = log.split('\n').filter((line) => line.includes('Error: secret'));
  t.true(lines.some((line) => line.includes('\\"ev-throws\\" failed on the answer')));
  t.true(lines.some((line) => line.includes('\\"throws\\" failed on the request')));
});
