import test, { type ExecutionContext } from 'ava';
import type { ClientWire } from '../../../engine/model/wire/client-wires.ts';
import { callReplies, histories } from '../../support/call-bodies.ts';
import { type GatewayExtras, startGateway } from '../../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { client, keyOf } from '../features/clients/rig.ts';

const adminKey = 'the-key-of-the-administrator';

/** The client protocols, their paths and the formats of vendors that speak them. */
const wires = [
  { wire: 'messages', path: '/v1/messages', provider: 'm' },
  { wire: 'chat', path: '/v1/chat/completions', provider: 'c' },
  { wire: 'responses', path: '/v1/responses', provider: 'r' },
] as const;

interface Shown {
  readonly requests: readonly object[];
  readonly graphs: readonly { readonly provider: string; readonly routes: unknown }[];
  readonly data: readonly { readonly id: string }[];
}

type Ask = (path: string, body: object, headers?: Readonly<Record<string, string>>) => Promise<Response>;

/** A gateway with a provider for each wire format; the upstream answers each in its own. */
const rig = async (t: ExecutionContext, rules: readonly object[], more: object = {}, extras: GatewayExtras = {}) => {
  const upstream = await startUpstream(({ url }) => {
    const found = wires.find(({ path }) => url.endsWith(path.slice('/v1'.length)));
    return jsonAnswer(JSON.parse(callReplies[found?.wire ?? 'chat']?.('{}').whole ?? ''));
  });
  const { Router = {}, ...others }: { Router?: object } = more;
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [
        { name: 'm', baseUrl: `${upstream.url}/m`, apiKey: 'k', models: ['default', 'ruled'] },
        { name: 'c', baseUrl: `${upstream.url}/c/v1`, apiKey: 'k', models: ['ruled'] },
        { name: 'r', baseUrl: `${upstream.url}/r/v1`, apiKey: 'k', models: ['ruled'] },
        { name: 'dead', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['x'] },
      ],
      transformers: [
        { name: 'anthropic', provider: 'm' },
        { name: 'openai', provider: 'r', options: { api: 'responses' } },
      ],
      Router: { default: 'm,default', rules, ...Router },
      ...others,
    },
    {},
    extras,
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const ask: Ask = (path, body, headers = {}) =>
    fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const routeOf = async (...asked: Parameters<Ask>): Promise<string | null> => {
    const answer = await ask(...asked);
    t.is(answer.status, 200, await answer.clone().text());
    return answer.headers.get('x-junctor-route');
  };
  return { gateway, upstream, ask, routeOf };
};

const bodyFor = (wire: ClientWire, text: string, more: object = {}): object => ({
  ...JSON.parse(histories[wire]('{}')),
  ...more,
  ...(wire === 'responses' ? { instructions: text } : {}),
  ...(wire === 'messages' ? { system: text } : {}),
});

for (const { wire, path, provider } of wires) {
  for (const to of ['m', 'c', 'r']) {
    const way = to === provider ? 'passes through' : 'is converted';
    test(`a ${wire} request that a rule sends to ${to} ${way}; others go the usual way`, async (t) => {
      const { routeOf, upstream } = await rig(t, [
        { name: 'first', when: { client: wire, headers: { 'x-team': 'blue' }, turns: { over: 1 } }, to: `${to},ruled` },
      ]);
      // The second text is long enough for an outline.
      for (const text of ['Be brief.', 'word '.repeat(8_000)]) {
        const body = bodyFor(wire, text, { unknown_member: 1 });
        t.is(await routeOf(path, body, { 'x-team': 'Blue' }), `${to},ruled;rule/first`);
        const sent = upstream.requests.at(-1);
        t.regex(sent?.url ?? '', new RegExp(`^/${to}/v1/`));
        t.is(sent?.text.includes('unknown_member'), to === provider);
        t.is(await routeOf(path, body, { 'x-team': 'red' }), 'm,default;default');
      }
    });
  }
}

const picture = 'data:image/png;base64,iVBORw0KGgo=';
const parameters = { type: 'object', properties: {} };

/** What a body of each protocol has for each fact, beside the user's text. */
const facts: Readonly<Record<(typeof wires)[number]['wire'], (text: string) => Readonly<Record<string, object>>>> = {
  messages: (text) => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const messages = (...content: readonly object[]) => ({
      model: 'any',
      max_tokens: 2_000,
      messages: [{ role: 'user', content: [...content, { type: 'text', text }] }],
    });
    return {
      tools: { ...messages(), tools: [{ name: 'mcp__read', input_schema: parameters }] },
      images: messages({ type: 'image', source }),
      reasoning: { ...messages(), thinking: { type: 'enabled', budget_tokens: 1024 } },
      system: { ...messages(), system: `You are a reviewer. ${text}` },
      model: { ...messages(), model: 'big-opus' },
      tokens: { ...messages({ type: 'text', text: 'word '.repeat(12_000) }) },
      none: messages(),
    };
  },
  chat: (text) => {
    const messages = (...content: readonly object[]) => ({
      model: 'any',
      messages: [{ role: 'user', content: [...content, { type: 'text', text }] }],
    });
    const system = { role: 'system', content: `You are a reviewer. ${text}` };
    return {
      tools: { ...messages(), tools: [{ type: 'function', function: { name: 'mcp__read', parameters } }] },
      images: messages({ type: 'image_url', image_url: { url: picture } }),
      reasoning: { ...messages(), reasoning_effort: 'low' },
      system: { model: 'any', messages: [system, { role: 'user', content: text }] },
      model: { ...messages(), model: 'big-opus' },
      tokens: messages({ type: 'text', text: 'word '.repeat(12_000) }),
      none: messages(),
    };
  },
  responses: (text) => {
    const input = (...content: readonly object[]) => ({
      model: 'any',
      input: [{ role: 'user', content: [...content, { type: 'input_text', text }] }],
    });
    return {
      tools: { ...input(), tools: [{ type: 'function', name: 'mcp__read', parameters, strict: false }] },
      images: input({ type: 'input_image', image_url: picture, detail: 'low' }),
      reasoning: { ...input(), reasoning: { effort: 'low' } },
      system: { ...input(), instructions: `You are a reviewer. ${text}` },
      model: { ...input(), model: 'big-opus' },
      tokens: input({ type: 'input_text', text: 'word '.repeat(12_000) }),
      none: input(),
    };
  },
};

const conditions = {
  tools: { tools: 'mcp__*' },
  images: { images: true },
  reasoning: { reasoning: true },
  system: { system: 'You are a reviewer' },
  model: { model: '*opus*' },
  tokens: { tokens: { over: 10_000 } },
};

for (const { wire, path, provider } of wires) {
  for (const to of [provider, provider === 'm' ? 'c' : 'm']) {
    const way = to === provider ? 'pass through' : 'are converted';
    test(`the facts of the body of ${wire} requests that ${way}, decoded whole or by their outline`, async (t) => {
      const rules = Object.entries(conditions).map(([name, when]) => ({ name, when, to: `${to},ruled` }));
      const { routeOf } = await rig(t, rules, { Router: { default: `${provider},ruled` } });
      for (const text of ['Hi', 'longer text '.repeat(2_000)]) {
        for (const [name, body] of Object.entries(facts[wire](text))) {
          const route = name === 'none' ? `${provider},ruled;default` : `${to},ruled;rule/${name}`;
          t.is(await routeOf(path, body), route, `${text.length} characters`);
        }
      }
    });
  }
}

test('an explicit destination, an alias and a tag win over rules; rules win over scenarios; the first that matches decides', async (t) => {
  const { routeOf } = await rig(
    t,
    [
      { name: 'opus', when: { model: '*opus*' }, to: 'm,ruled' },
      { name: 'rest', when: { not: { model: 'plain' } }, to: 'c,ruled' },
    ],
    { Router: { routes: { background: 'r,ruled' } } },
  );
  const ask = (model: string, system = 's') => routeOf('/v1/messages', { ...bodyFor('messages', system), model });
  t.is(await ask('r,ruled'), 'r,ruled;explicit');
  t.is(await ask('anthropic-junctor-rule-opus'), 'm,ruled;explicit');
  t.is(await ask('opus', '<JUNCTOR-MODEL>r,ruled</JUNCTOR-MODEL>'), 'r,ruled;tag');
  t.is(await ask('my-opus-haiku'), 'm,ruled;rule/opus');
  t.is(await ask('haiku'), 'c,ruled;rule/rest');
  t.is(await ask('plain'), 'm,default;default');
});

test('rules on tokens and the scenario go by the same count', async (t) => {
  const { routeOf } = await rig(
    t,
    [
      { name: 'long', when: { tokens: { over: 500 } }, to: 'c,ruled' },
      { name: 'middle', when: { tokens: { over: 200, under: 400 } }, to: 'r,ruled' },
    ],
    { Router: { longContextThreshold: 100, routes: { longContext: 'm,ruled' } } },
  );
  const ask = (words: number) => routeOf('/v1/messages', bodyFor('messages', 'word '.repeat(words)));
  t.is(await ask(10), 'm,default;default');
  t.is(await ask(150), 'm,ruled;longContext');
  t.is(await ask(300), 'r,ruled;rule/middle');
  t.is(await ask(450), 'm,ruled;longContext');
  t.is(await ask(600), 'c,ruled;rule/long');
  t.is(await ask(20_000), 'c,ruled;rule/long');
});

test('the rest of a list are fallbacks', async (t) => {
  const { ask } = await rig(t, [{ name: 'two', when: {}, to: ['dead,x', 'c,ruled'] }], { RETRY: { attempts: 0 } });
  const answer = await ask('/v1/messages', bodyFor('messages', 's'));
  t.is(answer.status, 200);
  t.is(answer.headers.get('x-junctor-route'), 'c,ruled;rule/two');
});

test('presets and named clients: rules see both, and a client may be limited to a rule', async (t) => {
  const { ask, routeOf } = await rig(
    t,
    [
      { name: 'review', when: { preset: 'rev*', path: '/v1/messages' }, to: 'c,ruled' },
      { name: 'team', when: { key: 'team-*' }, to: 'r,ruled' },
    ],
    { APIKEY: adminKey, CLIENTS: [client('team-a'), client('other', { routes: ['rule/team'] })] },
    { files: { 'presets/review/manifest.json': '{}' } },
  );
  const body = bodyFor('messages', 's');
  const as = (name: string) => ({ 'x-api-key': keyOf(name) });
  t.is(await routeOf('/preset/review/v1/messages', body, { 'x-api-key': adminKey }), 'c,ruled;rule/review');
  t.is(await routeOf('/v1/messages', body, as('team-a')), 'r,ruled;rule/team');
  t.is(await routeOf('/v1/messages', body, { 'x-api-key': adminKey }), 'm,default;default');
  const refused = await ask('/v1/messages', body, as('other'));
  t.is(refused.status, 403);
  t.regex(await refused.text(), /may not use the route default\. It may use: rule\/team/);
});

test('an agent that says what its request is makes the background scenario exact; without its word the model decides', async (t) => {
  const { routeOf } = await rig(t, [], { Router: { routes: { background: 'c,ruled' } } });
  const ask = (model: string, hint?: string) =>
    routeOf(
      '/v1/messages',
      { ...bodyFor('messages', 's'), model },
      hint === undefined ? {} : { 'x-claude-code-request-class': hint },
    );
  const [here, there] = ['c,ruled;background', 'm,default;default'];
  t.is(await ask('claude-haiku-9'), here);
  t.is(await ask('claude-opus-9'), there);
  t.is(await ask('claude-opus-9', 'auxiliary'), here);
  t.is(await ask('claude-haiku-9', 'main'), there);
  t.is(await ask('claude-haiku-9', 'compaction'), there);
  t.is(await ask('claude-haiku-9', 'subagent'), here);
  t.is(await ask('claude-opus-9', 'subagent'), there);
  t.is(await ask('claude-haiku-9', 'a-class-to-come'), here);
});

test('an agent that says that it summarizes gets the scenario for it', async (t) => {
  const { routeOf } = await rig(t, [], { Router: { routes: { compact: 'c,ruled' } } });
  const ask = (hint: string) =>
    routeOf('/v1/messages', bodyFor('messages', 's'), { 'x-claude-code-request-class': hint });
  t.is(await ask('compaction'), 'c,ruled;compact');
  t.is(await ask('main'), 'm,default;default');
});

test('the record, the metrics, the graph, the models and the dry run show the rule', async (t) => {
  const { gateway, ask } = await rig(t, [
    { name: 'never', when: { all: [{ client: 'chat' }, { any: [{ images: true }, { key: 'x' }] }] }, to: 'r,ruled' },
    {
      name: 'night',
      when: { headers: { 'x-a': '1*' }, time: { from: '22:00', to: '06:00', zone: 'UTC' } },
      to: 'c,ruled',
    },
    { name: 'opus', when: { model: '*opus*', not: { client: 'chat' } }, to: ['c,ruled', 'r,ruled'] },
  ]);
  // The answers' shapes are what the test is about.
  const get = async (path: string): Promise<Shown> => (await fetch(gateway.baseUrl + path)).json() as Promise<Shown>;
  const answer = await ask('/v1/messages', { ...bodyFor('messages', 's'), model: 'opus' });
  t.is(answer.status, 200);
  const { requests } = await get('/api/requests');
  t.like(requests[0] ?? {}, {
    scenario: 'rule/opus',
    reason: 'rule/opus: model is *opus*, not (client is chat)',
    provider: 'c',
  });
  const metrics = await (await fetch(`${gateway.baseUrl}/metrics`)).text();
  t.regex(metrics, /junctor_requests_total\{[^}]*scenario="rule\/opus"[^}]*\} 1/);
  const routes = async (query: string) =>
    (await get(`/api/graph?${query}`)).graphs.map((graph) => [graph.provider, graph.routes]);
  t.deepEqual(await routes('client=chat'), [
    ['m', ['default']],
    ['r', ['rule/never']],
    ['c', ['rule/night', 'rule/opus']],
  ]);
  t.deepEqual(await routes('model=opus'), [
    ['c', ['rule/opus']],
    ['m', ['default']],
    ['c', ['rule/opus']],
  ]);
  const explained = await ask('/api/explain', {
    body: { ...bodyFor('messages', 's'), model: 'opus' },
    headers: { 'X-A': '12' },
    at: '2026-06-01T21:59:59Z',
  });
  t.like(await explained.json(), {
    scenario: 'rule/opus',
    fallbacks: [{ provider: 'r', model: 'ruled' }],
    rules: [
      {
        name: 'never',
        matches: false,
        facts: [
          { at: 'all[0].client', says: 'client is chat', holds: false },
          { at: 'all[1].any[0].images', says: 'an image', holds: false },
          { at: 'all[1].any[1].key', says: 'key is x', holds: false },
        ],
      },
      {
        name: 'night',
        matches: false,
        facts: [
          { at: 'headers.x-a', says: 'header x-a is 1*', holds: true },
          { at: 'time', says: 'time is 22:00 to 06:00 in UTC', holds: false },
        ],
      },
      {
        name: 'opus',
        matches: true,
        facts: [
          { at: 'model', says: 'model is *opus*', holds: true },
          { at: 'not.client', says: 'client is chat', holds: false },
        ],
      },
    ],
  });
  const later = await ask('/api/explain', {
    body: { ...bodyFor('messages', 's'), model: 'opus' },
    headers: { 'x-a': '12' },
    at: '2026-06-01T22:00:00Z',
  });
  t.like(await later.json(), { scenario: 'rule/night' });
  const never = await ask('/api/explain', { model: 'any', at: 'soon' });
  t.is(never.status, 400, await never.text());
  const { data } = await get('/v1/models');
  t.true(data.some(({ id }) => id.endsWith('junctor-rule-night')));
});
