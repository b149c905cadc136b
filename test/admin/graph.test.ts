import test from 'ava';
import { request } from 'undici';
import { clientWires } from '../../engine/model/wire/client-wires.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

/** Two stages that leave their names in the request and in the answer, in the order in which they run. */
const marking = (name: string): string => `
  import { machine } from 'junctor/transformer';
  export default {
    name: '${name}',
    request: (request) => ({ ...request, system: [...request.system, { type: 'text', text: '${name}' }] }),
    events: machine({
      initial: () => ({}),
      step(_, event, out) { out.push(event.type === 'text-delta' ? { ...event, text: event.text + ' ${name}' } : event); },
    }),
  };`;

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(() => jsonAnswer(chatReply('said')));
  gateway = await startGateway(
    {
      LOG: false,
      APIKEY: 'key',
      Providers: [
        { name: 'p', baseUrl: upstream.url, apiKey: 'canary-secret', models: ['m', 'n'] },
        { name: 'q', baseUrl: 'https://api.anthropic.com', apiKey: 'canary-secret', models: ['o'] },
      ],
      Router: { default: 'p,m', routes: { think: 'q,o', background: 'p,m' } },
      transformers: [
        { path: 'one.js', provider: 'p', options: { token: 'canary-secret' } },
        { path: 'two.js', provider: 'p' },
        { name: 'gone', path: '../gone.js', models: ['n'] },
      ],
    },
    {},
    { files: { 'one.js': marking('one'), 'two.js': marking('two') } },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const get = async (path: string, headers: Readonly<Record<string, string>> = { 'x-api-key': 'key' }) => {
  const answer = await request(`${gateway.baseUrl}${path}`, { headers });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, value: Object(JSON.parse(text)) };
};

interface Shown {
  readonly client: string;
  readonly provider: string;
  readonly model: string;
  readonly routes: readonly string[];
  readonly fault: string | null;
  readonly nodes: readonly { readonly step: string; readonly name: string }[];
}

// The endpoint's own answer; `line.test.ts` holds its shape.
const graphsOf = (value: { readonly graphs: unknown }): readonly Shown[] => value.graphs as readonly Shown[];

test('a key is needed', async (t) => {
  for (const path of ['/api/graph', '/api/transformers']) t.is((await get(path, {})).status, 401, path);
});

test('without a question: each configured route, for each client protocol', async (t) => {
  const { status, value, text } = await get('/api/graph');
  t.is(status, 200);
  t.deepEqual(
    graphsOf(value).map(({ client, provider, model, routes }) => `${client} ${provider},${model} ${routes.join('+')}`),
    [
      ...clientWires.map((client) => `${client} p,m default+background`),
      ...clientWires.map((client) => `${client} q,o think`),
    ],
  );
  t.notRegex(text, /canary-secret/);
});

const questions: readonly (readonly [query: string, answer: string])[] = [
  ['model=anything&client=chat', 'chat p,m default'],
  ['model=q,o&client=messages', 'messages q,o explicit'],
  ['model=claude-haiku&client=chat', 'chat p,m background'],
  ['provider=q&model=o&client=chat', 'chat q,o explicit'],
  ['provider=Q&model=unlisted&client=chat', 'chat q,unlisted explicit'],
];

for (const [query, answer] of questions) {
  test(`?${query}`, async (t) => {
    const { value } = await get(`/api/graph?${query}`);
    t.deepEqual(
      graphsOf(value).map(
        ({ client, provider, model, routes }) => `${client} ${provider},${model} ${routes.join('+')}`,
      ),
      [answer],
    );
  });
}

for (const query of ['client=x', 'provider=p', 'provider=x&model=m', 'model=x,m']) {
  test(`?${query} is refused`, async (t) => {
    const { status, value } = await get(`/api/graph?${query}`);
    t.is(status, 400);
    t.is(value.success, false);
  });
}

test('what is shown is what runs, in that order', async (t) => {
  const { value } = await get('/api/graph?model=p,m&client=messages');
  const namesOf = (step: string): string =>
    graphsOf(value)[0]
      ?.nodes.flatMap((node) => (node.step === step ? [node.name] : []))
      .join(' ') ?? '';
  const answer = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'key' },
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
  });
  t.is(namesOf('stage-request'), 'one two');
  t.is(namesOf('stage-events'), 'two one');
  t.regex(await answer.body.text(), new RegExp(`said ${namesOf('stage-events')}`));
  t.regex(JSON.stringify(upstream.requests.at(-1)?.body), /one.*two/);
});

test('a module that is not loaded: its routes alone are broken, and say so', async (t) => {
  t.is(gateway.reports.length, 1, gateway.reports.join('\n'));
  t.true(gateway.reports.some((line) => /transformers\[2\]\.path can't be used: \.\.\/gone\.js: /.test(line)));
  const { value } = await get('/api/graph?model=p,n&client=chat');
  t.regex(graphsOf(value)[0]?.fault ?? '', /Transformer "gone" can't be used/);
  const ask = (model: string) =>
    request(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': 'key' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    });
  const broken = await ask('p,n');
  t.is(broken.statusCode, 500);
  t.regex(await broken.body.text(), /Transformer \\"gone\\" can't be used/);
  t.is((await ask('p,m')).statusCode, 200);
});

test('/api/transformers lists formats with their paths, stages, and modules, also one that could not be loaded', async (t) => {
  const { value } = await get('/api/transformers');
  const rows = new Map<string, object>(value.transformers.map((row: { name: string }) => [row.name, row]));
  t.is(rows.size, value.transformers.length, 'no name twice');
  t.like(rows.get('anthropic'), { endpoint: '/v1/messages', kind: 'format', state: 'loaded' });
  t.like(rows.get('openai'), {
    endpoint: '/v1/chat/completions',
    kind: 'format',
    halves: { request: true, events: true },
    options: { type: 'object' },
  });
  t.like(rows.get('maxtoken'), {
    endpoint: null,
    kind: 'stage',
    halves: { request: true, events: false },
    options: { required: ['max_tokens'] },
  });
  t.like(rows.get('enhancetool'), { halves: { request: false, events: true } });
  const both = { request: true, events: true };
  t.like(rows.get('one'), {
    endpoint: null,
    kind: 'custom',
    path: 'one.js',
    halves: both,
    state: 'loaded',
    options: null,
  });
  t.like(rows.get('gone'), { endpoint: null, kind: 'custom', path: '../gone.js', state: 'failed' });
  t.regex(String(Object(rows.get('gone')).error), /can't be used/);
  for (const [name, row] of rows) {
    if (!['one', 'two', 'gone'].includes(name)) t.regex(String(Object(row).about), /^[A-Z].*\.$/, name);
  }
});

test('a pool stands for its members, also one that no route leads to; each destination is shown once', async (t) => {
  const pooled = await startGateway({
    LOG: false,
    Providers: [
      { name: 'p', baseUrl: 'http://h.invalid', apiKey: 'k', models: ['m', 'n'] },
      { name: 'q', baseUrl: 'http://h.invalid', apiKey: 'k', models: ['o'] },
    ],
    Pools: [
      { name: 'large', strategy: 'sticky', members: [{ to: 'p,m', weight: 2 }, { to: 'q,o' }] },
      { name: 'unrouted', members: [{ to: 'p,n' }, { to: 'q,o' }] },
    ],
    Router: { default: 'large', routes: { think: 'p,m' } },
  });
  t.teardown(pooled.stop);
  const graphsAt = async (query: string) => {
    const answer = await request(`${pooled.baseUrl}/api/graph?client=chat${query}`);
    const { graphs } = Object(await answer.body.json());
    return (graphs as readonly (Shown & { readonly pools: readonly object[] })[]).map(
      ({ provider, model, routes, pools }) => [`${provider},${model}`, routes, pools],
    );
  };
  const large = { name: 'large', strategy: 'sticky', weight: 2, routes: ['default'] };
  const unrouted = { name: 'unrouted', strategy: 'weighted', weight: 1, routes: [] };
  t.deepEqual(await graphsAt(''), [
    ['p,m', ['default', 'think'], [large]],
    ['q,o', ['default'], [{ ...large, weight: 1 }, unrouted]],
    ['p,n', [], [unrouted]],
  ]);
  t.deepEqual(
    (await graphsAt('&model=unrouted')).map(([name, routes]) => [name, routes]),
    [
      ['p,n', ['explicit']],
      ['q,o', ['explicit']],
    ],
  );
});
