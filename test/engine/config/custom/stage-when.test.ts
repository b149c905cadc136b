import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { askBy, ways } from '../../../support/ways.ts';
import { client, keyOf } from '../../features/clients/rig.ts';

const api = `import { answer, machine, rx, transformer, whole } from 'junctor/transformer';\n`;
const marked = `({ ...request, system: [...request.system, { type: 'text', text: 'MARK' }] })`;
const markText = `(event) => (event.type === 'text-delta' ? { ...event, text: event.text.toUpperCase() } : event)`;

/** Each form of stage leaves its mark: in the request, or in the answer's text. */
const forms: Readonly<Record<string, string>> = {
  function: `transformer({ name: 's', request: (request) => ${marked} })`,
  machine: `transformer({ name: 's', events: () => machine({ initial: () => ({}), step: (state, event, out) => { out.push((${markText})(event)); } }) })`,
  operator: `transformer({ name: 's', operators: () => ({ request: rx.map((request) => ${marked}) }) })`,
  'operator-events': `transformer({ name: 's', operators: () => ({ events: rx.map((batch) => batch.map(${markText})) }) })`,
  class: `class Stage { name = 's'; request(request) { return ${marked}; } }\nexport default new Stage()`,
  call: `transformer({ name: 's', call: () => ({ body: { user: 'MARK' } }) })`,
  around: `transformer({ name: 's', around: (request, next) => next(request).pipe(rx.map((batch) => batch.map(${markText}))) })`,
};

const module = (source: string): string =>
  api + (source.includes('export default') ? source : `export default ${source};`);

const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } });
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const user = (...content: readonly object[]) => ({ role: 'user', content });
const said = { type: 'text', text: 'hi' };
const use = (id: string, name: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: { a: 1 } }],
});
const result = (id: string, isError: boolean) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'x',
  is_error: isError,
});
/** Two calls, the second of which repeats the first, and failed. */
const loop = {
  tools: [tool('Bash')],
  messages: [user(said), use('a', 'Bash'), user(result('a', false)), use('b', 'Bash'), user(result('b', true))],
};
const long = { messages: [user({ type: 'text', text: 'some words that count as tokens '.repeat(500) })] };
const headers = (name: string, value: string) => ({ headers: { [name]: value } });

interface Sent {
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Each fact that a condition can name, in the order of the schema: a condition, a request for which it holds, and one for which not. */
const facts: Readonly<Record<string, readonly [when: object, holds: Sent, fails: Sent]>> = {
  // All requests of this table come by Messages.
  client: [{ client: 'messages', headers: { 'x-client': true } }, headers('x-client', '1'), {}],
  path: [{ path: '/v1/messages*', headers: { 'x-path': true } }, headers('x-path', '1'), {}],
  preset: [{ preset: 'review' }, { path: '/preset/review/v1/messages' }, {}],
  headers: [{ headers: { 'x-team': 'blue*' } }, headers('x-team', 'Blue-1'), headers('x-team', 'red')],
  key: [{ key: 'team-*' }, headers('x-api-key', keyOf('team-a')), headers('x-api-key', keyOf('other'))],
  model: [{ model: '*,m-opus' }, { more: { model: 'p,m-opus' } }, {}],
  tools: [{ tools: 'mcp__*' }, { more: { tools: [tool('mcp__read')] } }, { more: { tools: [tool('read')] } }],
  images: [{ images: true }, { more: { messages: [user(picture, said)] } }, {}],
  webSearch: [
    { webSearch: true },
    { more: { tools: [tool('read'), { type: 'web_search_20250305', name: 'web_search' }] } },
    { more: { tools: [tool('web_search')] } },
  ],
  safeguards: [{ safeguards: true }, { more: { safeguards: [{ type: 'dangerous_tool_use' }] } }, {}],
  reasoning: [
    { reasoning: true },
    { more: { max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1024 } } },
    {},
  ],
  tokens: [{ tokens: { over: 2_000 } }, { more: long }, {}],
  turns: [
    { turns: { over: 1 } },
    { more: { messages: [user(said), { role: 'assistant', content: 'x' }, user(said)] } },
    {},
  ],
  toolErrors: [
    { toolErrors: { last: 1, over: 0 } },
    { more: loop },
    { more: { ...loop, messages: loop.messages.slice(0, 3) } },
  ],
  repeatedCall: [{ repeatedCall: true }, { more: loop }, { more: { ...loop, messages: loop.messages.slice(0, 3) } }],
  sinceUser: [{ sinceUser: { over: 1 } }, { more: loop }, {}],
  lastTool: [{ lastTool: 'bash' }, { more: loop }, {}],
  system: [
    { system: 'a reviewer' },
    { more: { system: 'You are a reviewer.' } },
    { more: { system: 'You are a poet.' } },
  ],
  time: [{ time: { from: '00:00', to: '23:59' }, headers: { 'x-time': true } }, headers('x-time', '1'), {}],
  requestClass: [{ requestClass: 'subagent' }, headers('x-claude-code-request-class', 'subagent'), {}],
  agentType: [{ agentType: 'Explore' }, headers('x-claude-code-agent-type', 'explore'), {}],
  compaction: [{ compaction: '*' }, headers('x-claude-code-compaction', 'auto'), {}],
  // The model answers something else, so it is as `otherwise` says.
  decides: [
    { decides: { ask: 'p,m', question: 'Is it?', otherwise: true }, headers: { 'x-decides': true } },
    headers('x-decides', '1'),
    {},
  ],
  all: [{ all: [{ images: false }, { headers: { 'x-all': '1' } }] }, headers('x-all', '1'), headers('x-all', '2')],
  any: [
    { any: [{ headers: { 'x-any': '1' } }, { headers: { 'x-any': '2' } }] },
    headers('x-any', '2'),
    headers('x-any', '3'),
  ],
  not: [{ not: { headers: { 'x-not': false } } }, headers('x-not', '1'), {}],
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body, url }) => {
    const asked = Object(body);
    if (asked.model === 'broken') return { status: 503, headers: {}, pieces: ['no'] };
    if (url.endsWith('/messages'))
      return jsonAnswer({
        ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
        ...{ content: [{ type: 'text', text: 'one two' }], usage: { input_tokens: 1, output_tokens: 1 } },
      });
    return asked.stream ? sseAnswer(chatStream(['one ', 'two'])) : jsonAnswer(chatReply('one two'));
  });
  const files = {
    ...Object.fromEntries(Object.entries(forms).map(([name, source]) => [`${name}.mjs`, module(source)])),
    'named.mjs': module(
      `({ mark }) => transformer({ name: mark, request: (request) => ({ ...request, system: [...request.system, { type: 'text', text: '<' + mark + '>' }] }) })`,
    ),
    'asks.mjs': module(
      `transformer({ name: 'asks', around: async (request, next, context) => {
         const { text } = await context.ask('p,m', 'a question of tea');
         return whole(next(request, { to: 'p,m' })).pipe(rx.mergeMap((reply) => answer(text + '|' + reply.text)));
       } })`,
    ),
    'presets/review/manifest.json': JSON.stringify({ name: 'review' }),
  };
  gateway = await startGateway(
    {
      // All of a file's tests run at once: on a busy machine, a stage's turn may come late.
      TIMEOUTS: { stageMs: 600_000 },
      APIKEY: 'admin',
      CLIENTS: [client('team-a'), client('other')],
      RETRY: { attempts: 0 },
      Providers: [
        {
          name: 'p',
          baseUrl: upstream.url,
          apiKey: 'k',
          models: ['m', 'm-opus', 'asks', 'broken', ...Object.keys(forms)],
        },
        { name: 'a', baseUrl: `${upstream.url}/a`, apiKey: 'k', models: ['m'] },
        { name: 'b', baseUrl: `${upstream.url}/b`, apiKey: 'k', models: ['m'] },
        { name: 'u', baseUrl: upstream.url, apiKey: 'k', models: ['m'], transformer: { use: ['named'] } },
      ],
      // Most Messages requests are relayed, so of a long one only the outline is read.
      Router: { default: 'b,m', routes: { background: 'p,broken' }, fallback: { background: ['p,m'] } },
      transformers: [
        { path: 'asks.mjs', models: ['asks'], ask: ['p,m'], when: { headers: { 'x-asks': true } } },
        ...Object.keys(facts).map((fact) => ({
          ...{ name: fact, path: 'named.mjs', provider: 'p', options: { mark: fact }, when: facts[fact]?.[0] },
          ...{ models: ['m', 'm-opus', 'asks', 'broken'] },
        })),
        ...Object.keys(forms).map((form) => ({
          ...{ path: `${form}.mjs`, models: [form], when: { headers: { 'x-mark': 'yes' } } },
        })),
        { name: 'anthropic', provider: 'a' },
        { name: 'anthropic', provider: 'b' },
        {
          name: 'passed',
          path: 'named.mjs',
          provider: 'a',
          options: { mark: 'passed' },
          when: { system: 'A SECRET WORD' },
        },
        { path: 'named.mjs', options: { mark: 'used' }, when: { headers: { 'x-used': true } } },
        { name: 'gone', path: 'gone.mjs', provider: 'p', models: ['m'], when: { headers: { 'x-gone': true } } },
      ],
    },
    {},
    { files },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const admin = { 'x-api-key': 'admin' };

/** Asks by Messages; returns the marks in the last call for this text. */
let asked = 0;
const marksOf = async ({ more = {}, headers: own = {}, path = '/v1/messages' }: Sent): Promise<readonly string[]> => {
  asked += 1;
  const id = `n-${asked}`;
  const answer = await request(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { ...admin, ...own },
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: [user(said)], stop_sequences: [id], ...more }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) return [text];
  const call = upstream.requests.findLast((one) => one.text.includes(`"${id}"`));
  return [...(call?.text ?? '').matchAll(/<(\w+)>/g)].map(([, mark = '']) => mark);
};

for (const [fact, [, holds, fails]] of Object.entries(facts)) {
  test(`${fact}: the stage runs for requests for which its condition holds`, async (t) => {
    const [yes, no] = await Promise.all([marksOf(holds), marksOf(fails)]);
    t.true(yes.includes(fact), yes.join());
    t.false(no.includes(fact), no.join());
  });
}

for (const way of ways) {
  for (const form of Object.keys(forms)) {
    test(`${way}: ${form} with a condition`, async (t) => {
      const ask = async (mark: string) => {
        const got = await askBy(t, gateway.baseUrl, way, {
          model: `p,${form}`,
          text: `${way} ${mark}`,
          headers: { ...admin, 'x-mark': mark },
        });
        t.true(got.isWhole, got.raw);
        const call = upstream.requests.findLast(
          ({ text, body }) => text.includes(`"${way} ${mark}"`) && Object(body).model === form,
        );
        return got.said === 'ONE TWO' || (call?.text ?? '').includes('MARK');
      };
      t.deepEqual(await Promise.all([ask('yes'), ask('no')]), [true, false]);
    });
  }
}

test('20 requests at the same time, each with other conditions that hold', async (t) => {
  const some = ['images', 'tools', 'system', 'reasoning', 'tokens'] as const;
  const sets = Array.from({ length: 20 }, (_, index) => some.filter((_fact, bit) => (index >> bit) % 2 === 1));
  const all = await Promise.all(
    sets.map(async (set) => {
      const own: readonly object[] = set.map((fact) => facts[fact]?.[1].more ?? {});
      const content = [
        ...(set.includes('images') ? [picture] : []),
        ...(set.includes('tokens') ? (long.messages[0]?.content ?? []) : [said]),
      ];
      return marksOf({ more: { ...Object.assign({}, ...own), messages: [user(...content)] } });
    }),
  );
  t.deepEqual(
    all.map((marks) => marks.toSorted()),
    sets.map((set) => set.toSorted()),
  );
});

for (const [title, words] of [
  ['short', 'word'],
  ['of a length for which only an outline is read', 'word '.repeat(20_000)],
] as const) {
  test(`a request ${title} is relayed unless the condition holds`, async (t) => {
    const ask = async (system: string) => {
      const answer = await request(`${gateway.baseUrl}/v1/messages`, {
        method: 'POST',
        headers: admin,
        body: JSON.stringify({
          ...{ model: 'a,m', max_tokens: 9, system: `${system} ${words}`, messages: [user(said)] },
          unknown_member: 1,
        }),
      });
      t.is(answer.statusCode, 200, await answer.body.text());
      const { text = '' } = upstream.requests.findLast((one) => one.text.includes(system)) ?? {};
      return [text.includes('unknown_member'), text.includes('<passed>')];
    };
    const [plain, secret] = [await ask(`a plain word, ${title}`), await ask(`A SECRET WORD, ${title}`)];
    t.deepEqual(plain, [true, false]);
    t.true(secret[1]);
  });
}

test('fallbacks are asked with the stages of the same conditions', async (t) => {
  t.deepEqual(await marksOf({ more: { model: 'a-haiku' }, headers: { 'x-team': 'blue' } }), ['headers']);
});

test('a call again keeps what held for the request; a question is judged by itself', async (t) => {
  const answer = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { ...admin, 'x-asks': '1', 'x-all': '1' },
    body: JSON.stringify({
      model: 'p,asks',
      max_tokens: 9,
      messages: [user(picture, { type: 'text', text: 'asked again' })],
      ...facts.tools?.[1].more,
    }),
  });
  t.is(answer.statusCode, 200, await answer.body.text());
  const calls = upstream.requests.filter(({ body }) => Object(body).model === 'm');
  const marks = ({ text }: { readonly text: string }) => [...text.matchAll(/<(\w+)>/g)].map(([, mark]) => mark);
  const question = calls.find(({ text }) => text.includes('a question of tea'));
  const again = calls.find(({ text }) => text.includes('asked again'));
  // The question has neither a picture nor tools; its headers are those of the request.
  t.deepEqual(question && marks(question), ['all']);
  t.deepEqual(again && marks(again), ['tools', 'images']);
});

test("a module that isn't loaded fails only requests for which its condition holds", async (t) => {
  t.regex((await marksOf(headers('x-gone', '1'))).join(), /"gone.* can't be used/);
  t.deepEqual(await marksOf({}), []);
});

test('the older spelling takes the condition with the module', async (t) => {
  const send = async (own: Readonly<Record<string, string>>) => marksOf({ more: { model: 'u,m' }, headers: own });
  t.deepEqual([await send({ 'x-used': '1' }), await send({})], [['used'], []]);
});

const get = async (path: string, body?: object) => {
  const answer = await request(`${gateway.baseUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: admin,
    ...(body && { body: JSON.stringify(body) }),
  });
  return Object(await answer.body.json());
};

test('explain says which stages are left out, and by which fact', async (t) => {
  const { conditions } = await get('/api/explain', {
    client: 'messages',
    body: { model: 'p,m', max_tokens: 9, messages: [user(said)], ...facts.tools?.[1].more },
    headers: { 'x-all': '2' },
  });
  const shown = (name: string) => conditions.find((one: { readonly name: string }) => one.name === name);
  t.like(shown('tools'), { holds: true, because: 'a tool is mcp__*', entry: 'transformers[7]' });
  t.like(shown('all'), { holds: false, because: 'not (header x-all is 1)' });
  t.like(shown('tokens'), { holds: false, because: 'not (tokens > 2,000)' });
  t.deepEqual(shown('images').facts, [{ at: 'images', says: 'an image', holds: false }]);
  t.is(shown('passed'), undefined, 'of another provider');
});

test('the graph has the condition on the node of its stage', async (t) => {
  const { graphs } = await get('/api/graph');
  const graph = graphs.find((one: { readonly provider: string; readonly model: string }) => one.model === 'broken');
  const node = graph.nodes.find((one: { readonly name: string }) => one.name === 'any');
  t.is(node.when, 'header x-any is 1 or header x-any is 2');
});
