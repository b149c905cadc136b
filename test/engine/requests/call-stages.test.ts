import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/*
 * Call halves of stages: what they see of the HTTP request to the provider, and what they may change in it.
 */

/** A gateway with these modules as stages, in this order. */
const withStages = async (t: ExecutionContext, modules: Readonly<Record<string, string>>) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('fine')));
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [
        { name: 'p', baseUrl: upstream.url, apiKey: 'secret-key', models: ['m'], headers: { 'x-team': 'one' } },
      ],
      transformers: Object.keys(modules).map((path) => ({ path })),
    },
    {},
    { files: modules },
  );
  t.teardown(gateway.stop);
  const ask = async (path: string, body: JsonObject) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      body: JSON.stringify({ model: 'p,m', messages: [{ role: 'user', content: 'Hello' }], ...body }),
    });
    const route = answer.headers.get('x-junctor-route');
    return { status: answer.status, route, text: await answer.text(), sent: upstream.requests.at(-1) };
  };
  return { ask, gateway, upstream };
};

const marks = `export default { name: 'marks', call: ({ headers, body, request }) => ({
  headers: { 'X-Seen': Object.keys(headers).sort().join(' '), 'x-team': null, 'x-turns': String(request.turns.length) },
  body: { seen: Object.keys(body).sort(), top_p: null, nested: { added: true } },
}) };`;

for (const [way, path] of [
  ['passes through', '/v1/chat/completions'],
  ['is converted', '/v1/messages'],
] as const) {
  for (const long of [false, true]) {
    test(`a ${long ? 'long' : 'short'} request that ${way}: headers and members are set and removed`, async (t) => {
      const { ask } = await withStages(t, { 'marks.mjs': marks });
      const content = long ? 'long '.repeat(200_000) : 'Hello';
      const { status, text, sent } = await ask(path, {
        max_tokens: 9,
        top_p: 0.5,
        messages: [{ role: 'user', content }],
        ...(way === 'passes through' && { nested: { kept: 12345678901234567890n.toString() } }),
      });
      t.is(status, 200, text);
      t.is(sent?.headers['x-seen'], 'accept accept-encoding content-type user-agent x-junctor-hops x-team');
      t.like(sent?.headers, { 'x-team': undefined, 'x-turns': '1', authorization: 'Bearer secret-key' });
      const body = sent?.body as JsonObject;
      t.true(Array.isArray(body.seen) && body.seen.includes('top_p') && body.seen.includes('messages'));
      t.false('top_p' in body);
      t.like(body, {
        model: 'm',
        messages: [{ role: 'user', content }],
        nested: { added: true, ...(way === 'passes through' && { kept: '12345678901234567890' }) },
      });
    });
  }
}

test('a stage that changes only headers leaves the bytes of the body as they came', async (t) => {
  const { ask } = await withStages(t, {
    'header.mjs': `export default { name: 'header', call: () => ({ headers: { 'x-only': 'this' } }) };`,
    'nothing.mjs': `export default { name: 'nothing', call: () => undefined };`,
  });
  const { sent } = await ask('/v1/chat/completions', { own: 1 });
  t.is(sent?.headers['x-only'], 'this');
  t.is(sent?.text, '{"model":"m","messages":[{"role":"user","content":"Hello"}],"own":1}');
});

test('each stage sees what those before it changed', async (t) => {
  const { ask } = await withStages(t, {
    'first.mjs': `export default { name: 'first', call: () => ({ headers: { 'x-a': '1' }, body: { a: 1 } }) };`,
    'second.mjs': `export default { name: 'second', call: ({ headers, body }) =>
      ({ headers: { 'x-b': headers['x-a'] + '2' }, body: { b: body.a + 1, a: null } }) };`,
  });
  const { sent } = await ask('/v1/chat/completions', {});
  t.is(sent?.headers['x-b'], '12');
  t.like(sent?.body, { a: undefined, b: 2 });
});

test('the graph shows the stage before the call, for both ways', async (t) => {
  const { gateway } = await withStages(t, { 'marks.mjs': marks });
  const { graphs } = (await (await fetch(`${gateway.baseUrl}/api/graph?model=p,m&client=chat`)).json()) as {
    readonly graphs: readonly {
      readonly client: string;
      readonly passThrough: { readonly request: { readonly open: boolean } };
      readonly nodes: readonly { readonly id: string; readonly name: string }[];
      readonly edges: readonly { readonly from: string; readonly to: string }[];
    }[];
  };
  const chat = graphs.find(({ client }) => client === 'chat');
  const id = 'stage-call:transformers[0]';
  t.true(chat?.passThrough.request.open, 'the request itself may pass');
  t.like(
    chat?.nodes.find((node) => node.id === id),
    { name: 'marks' },
  );
  t.deepEqual(
    chat?.edges.filter(({ from, to }) => from === id || to === id).map(({ from, to }) => `${from} > ${to}`),
    [`encode-request > ${id}`, `forward-request > ${id}`, `${id} > call-upstream`],
  );
});

const faults: Readonly<Record<string, readonly [source: string, message: string]>> = {
  throws: [`() => { throw new Error('of its own, with secret-key') }`, 'failed on the call.'],
  'a promise': ['async () => ({})', 'failed on the call: it returned something other than changes.'],
  'a list': ['() => []', 'failed on the call: it returned something other than changes.'],
  'another member': [
    '() => ({ url: "x" })',
    'failed on the call: it gave "url", and only headers and body can be changed.',
  ],
  'a header of the connection': [
    `() => ({ headers: { 'Content-Length': '1' } })`,
    'failed on the call: headers.Content-Length is set by the gateway itself.',
  ],
  'a number as a header': [
    '() => ({ headers: { "x-n": 1 } })',
    'failed on the call: headers.x-n must be a string or null.',
  ],
  'a line break': [
    '() => ({ headers: { "x-n": "a\\nb" } })',
    'failed on the call: headers.x-n must have a value without control characters, in Latin-1.',
  ],
  'the model': [
    '() => ({ body: { model: "other" } })',
    'failed on the call: body.model is set by the destination of a request.',
  ],
  'text as the body': ['() => ({ body: "text" })', 'failed on the call: its body must be an object.'],
};

for (const [title, [source, message]] of Object.entries(faults)) {
  test(`a stage that gives ${title}: a 500 that names it, and no call`, async (t) => {
    const { ask, upstream } = await withStages(t, { 'bad.mjs': `export default { name: 'bad', call: ${source} };` });
    const { status, route, text } = await ask('/v1/chat/completions', {});
    t.is(status, 500);
    t.is(route, 'p,m;explicit');
    t.is(JSON.parse(text).error.message, `Transformer "bad" ${message}`);
    t.is(upstream.requests.length, 0);
  });
}

test('a call half that is no function is refused', async (t) => {
  const { gateway, ask } = await withStages(t, { 'odd.mjs': `export default { name: 'odd', call: {} };` });
  t.regex(gateway.reports.join('\n'), /its call half must be a function/);
  t.is((await ask('/v1/chat/completions', {})).status, 500);
});
