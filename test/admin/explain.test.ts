import test, { type ExecutionContext } from 'ava';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const secret = 'a-secret-of-the-provider';

const otherSecret = 'never-to-be-read';
const env = { P_KEY: secret, OPENAI_API_KEY: 'of-a-vendor', OTHER_SECRET: otherSecret };

const gateway = async (t: ExecutionContext, more: object = {}) => {
  const upstream = await startUpstream(() => jsonAnswer({}));
  const running = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1?key=${secret}`, apiKey: secret, models: ['m', 'n'] }],
      Router: { default: 'p,m', routes: { think: 'p,n' } },
      ...more,
    },
    env,
  );
  t.teardown(async () => {
    await running.stop();
    await upstream.close();
  });
  return { ...running, upstream };
};

const ask = async (
  { baseUrl }: TestGateway,
  body: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(`${baseUrl}/api/explain`, { method: 'POST', body: JSON.stringify(body) });
  // The answer's shape is what the tests are about.
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test('the rule, the destination, the call and the losses of a request; nothing is sent, noted or counted', async (t) => {
  const running = await gateway(t);
  const asked = {
    model: 'whatever',
    max_tokens: 9000,
    top_k: 3,
    stream: true,
    thinking: { type: 'enabled', budget_tokens: 4096 },
    messages: [{ role: 'user', content: 'Hi' }],
  };
  const { status, body } = await ask(running, { client: 'messages', body: asked });
  t.is(status, 200);
  t.like(body, {
    client: 'messages',
    asked: 'whatever',
    scenario: 'think',
    provider: 'p',
    model: 'n',
    format: 'openai',
    stream: true,
    relays: { request: false, reply: false },
  });
  t.regex(String(body.reason), /^think: /);
  t.is(body.url, `${running.upstream.url}/v1/chat/completions?key=***`);
  t.like(body.headers, { authorization: '***', accept: 'text/event-stream' });
  t.like(body.body, { model: 'n', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
  t.true((body.losses as { path: string }[]).some(({ path }) => path === 'top_k'));
  t.false(JSON.stringify(body).includes(secret));
  t.is(running.upstream.requests.length, 0);
});

test('a draft has the saved secrets at their places, and a dry run shows none of them', async (t) => {
  const carried = { 'x-own-key': 'canary-of-the-header' };
  const running = await gateway(t, {
    Providers: [
      {
        name: 'p',
        baseUrl: 'http://127.0.0.1:1/v1',
        apiKey: 'canary-of-the-key',
        models: ['m', 'n'],
        headers: carried,
        body: { token: 'canary-of-the-body' },
      },
    ],
  });
  const saved = await (await fetch(`${running.baseUrl}/api/config`)).json();
  const explained = async (change: object) => {
    const [provider] = Object(saved).Providers;
    const configuration = { ...Object(saved), Providers: [{ ...provider, ...change }] };
    const answer = await ask(running, { client: 'chat', model: 'p,m', configuration });
    t.false(JSON.stringify(answer.body).includes('canary'), JSON.stringify(answer.body));
    return answer.status;
  };
  t.is(await explained({}), 200);
  t.is(await explained({ headers: { 'x-new-key': '•••• Providers[p].apiKey' } }), 200);
  t.is(await explained({ headers: { 'x-title': '•••• Providers[p].apiKey' } }), 400);
  t.is(await explained({ body: { user: '•••• Providers[p].apiKey' } }), 400);
});

test('a small request will do, and so will a query', async (t) => {
  const running = await gateway(t);
  for (const [client, member] of [
    ['messages', 'messages'],
    ['chat', 'messages'],
    ['responses', 'input'],
  ] as const) {
    const { body } = await ask(running, { client, model: 'p,n', text: 'What now?' });
    t.like(body, { client, scenario: 'explicit', provider: 'p', model: 'n' });
    t.true(JSON.stringify(body.body).includes('What now?'), member);
  }
  const response = await fetch(`${running.baseUrl}/api/explain?client=chat&model=p,n&text=Now%3F`);
  t.like(await response.json(), { client: 'chat', relays: { request: true, reply: true } });
});

test('a configuration that is not saved explains a request; the one in use stays as it is', async (t) => {
  const running = await gateway(t);
  const provider = { name: 'new', baseUrl: `${running.upstream.url}/v1`, apiKey: 'the-key-of-a-draft', models: ['x'] };
  const configuration = { Providers: [provider], Router: { default: 'new,x' }, TIMEOUTS: { connectMs: 1_234 } };
  const { body } = await ask(running, { model: 'any', configuration });
  t.like(body, { provider: 'new', model: 'x', scenario: 'default', headers: { authorization: '***' } });
  t.false(JSON.stringify(body).includes('the-key-of-a-draft'));
  t.like((await ask(running, { model: 'any' })).body, { provider: 'p', model: 'm' });
  t.is(running.upstream.requests.length, 0);
  for (const [broken, message] of [
    [{ ...configuration, Router: { default: 'gone,x' } }, /Router\.default.*gone/],
    [{ ...configuration, transformers: ['no-such-stage'] }, /transformers\[0\].*no-such-stage/],
    ['text', /configuration must be object/],
  ] as const) {
    const answer = await ask(running, { model: 'any', configuration: broken });
    t.is(answer.status, 400);
    t.regex(String(answer.body.message), message);
  }
});

test("an unsaved configuration reads only variables that the saved one or a vendor's row names", async (t) => {
  const running = await gateway(t, { note: '$P_KEY' });
  const provider = { name: 'new', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', models: ['x'] };
  const draft = { Providers: [provider], Router: { default: 'new,x' } };
  const attempts: readonly (readonly [configuration: object, path: string])[] = [
    [{ ...draft, Providers: [{ ...provider, baseUrl: 'http://127.0.0.1/$OTHER_SECRET/v1' }] }, 'Providers[0].baseUrl'],
    [{ ...draft, Providers: [{ ...provider, models: ['x', '${OTHER_SECRET}'] }] }, 'Providers[0].models[1]'],
    [{ ...draft, Router: { default: '$OTHER_SECRET,x' } }, 'Router.default'],
    [{ ...draft, transformers: [{ name: 'maxtoken', options: { a: '$OTHER_SECRET' } }] }, 'transformers[0].options.a'],
  ];
  for (const [configuration, path] of attempts) {
    const { status, body } = await ask(running, { model: 'new,x', configuration });
    t.is(status, 400, path);
    t.true(
      String(body.message).includes(`- ${path} names the environment variable OTHER_SECRET, `),
      String(body.message),
    );
    t.false(JSON.stringify(body).includes(otherSecret));
  }
  for (const apiKey of ['$P_KEY', '$OPENAI_API_KEY']) {
    const configuration = { ...draft, Providers: [{ ...provider, apiKey }] };
    t.is((await ask(running, { model: 'new,x', configuration })).status, 200, apiKey);
  }
});

test("a client's headers count", async (t) => {
  const running = await gateway(t, {
    Providers: [{ name: 'p', baseUrl: 'https://api.anthropic.com', apiKey: secret, models: ['m', 'n'] }],
  });
  const { body } = await ask(running, { model: 'p,m', headers: { 'Anthropic-Beta': 'x-1' } });
  t.like(body.headers, { 'anthropic-beta': 'x-1', 'x-api-key': '***' });
  t.like(body.relays, { request: true });
});

const refused: readonly (readonly [title: string, body: unknown, status: number, message: RegExp])[] = [
  ['no request at all', {}, 400, /body is required/],
  ['an unknown client', { client: 'morse', model: 'm' }, 400, /client must be one of messages, chat, responses/],
  ['a body that is no object', { body: 'text' }, 400, /body must be object/],
  ['what its protocol refuses', { body: { model: 'm', max_tokens: 1 } }, 400, /messages is required/],
  ['an unknown provider', { model: 'q,m' }, 400, /q/],
];

test('what a client would be refused is refused, with the reason', async (t) => {
  const running = await gateway(t);
  for (const [title, body, status, message] of refused) {
    const answer = await ask(running, body);
    t.is(answer.status, status, title);
    t.is(answer.body.success, false, title);
    t.regex(String(answer.body.message), message, title);
  }
});

test('it needs the key', async (t) => {
  const running = await gateway(t, { APIKEY: 'a-key-of-mine' });
  t.is((await ask(running, { model: 'm' })).status, 401);
});

test('OpenAI is called over Responses, but for what a chat client sends as it came; the graph says the same', async (t) => {
  const running = await gateway(t, {
    Providers: [
      { name: 'p', baseUrl: 'https://api.openai.com/v1', apiKey: secret, models: ['gpt-6.1-sol', 'gpt-4.1'] },
    ],
    Router: { default: 'p,gpt-6.1-sol' },
    transformers: [{ name: 'maxtoken', models: ['gpt-6-luna'], options: { max_tokens: 9 } }],
  });
  const messages = [{ role: 'user', content: 'Hi' }];
  const parameters = { type: 'object', properties: {} };
  const bodies = {
    messages: { max_tokens: 99, messages, tools: [{ name: 'f', input_schema: parameters }] },
    chat: { messages, tools: [{ type: 'function', function: { name: 'f', parameters } }] },
    responses: { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters }] },
  };
  const cases = [
    ['messages', 'gpt-6.1-sol', 'responses', false],
    ['responses', 'gpt-6.1-sol', 'responses', true],
    ['chat', 'gpt-6.1-sol', 'chat/completions', true],
    // A stage changes its requests.
    ['chat', 'gpt-6-luna', 'responses', false],
    ['messages', 'gpt-4.1', 'chat/completions', false],
  ] as const;
  for (const [client, model, path, passes] of cases) {
    const { body } = await ask(running, { client, body: { ...bodies[client], model: `p,${model}` } });
    t.like(body, { url: `https://api.openai.com/v1/${path}`, relays: { request: passes } }, `${client} ${model}`);
    const shown = await fetch(`${running.baseUrl}/api/graph?model=p,${model}&client=${client}`);
    const graph = JSON.stringify(await shown.json());
    t.true(graph.includes(`"url":"https://api.openai.com/v1/${path}"`), `${client} ${model}`);
    t.true(graph.includes(`"passThrough":{"request":{"open":${passes}`), `${client} ${model}`);
  }
});

const dated = `
let calls = 0;
export default {
  name: 'dated',
  request(request) {
    calls += 1;
    return { ...request, system: [{ type: 'text', text: 'Request ' + calls }, ...request.system] };
  },
};
`;
const reminding = `
export default {
  name: 'reminding',
  request(request) {
    const turns = [...request.turns];
    const last = turns.pop();
    return { ...request, turns: [...turns, { ...last, parts: [...last.parts, { type: 'text', text: 'Be brief.' }] }] };
  },
};
`;

const talk = [
  { role: 'user', content: 'One' },
  { role: 'assistant', content: 'Two' },
  { role: 'user', content: 'Three' },
];

const asking: readonly (readonly [client: string, body: object])[] = [
  ['messages', { model: 'p,m', max_tokens: 9, system: 'S', messages: talk }],
  ['chat', { model: 'p,m', messages: [{ role: 'system', content: 'S' }, ...talk] }],
  ['responses', { model: 'p,m', instructions: 'S', input: talk }],
];

const prefixes: readonly (readonly [title: string, transformers: readonly object[], module: string, prefix: object])[] =
  [
    ['no stage', [], '', { grows: true, at: null, step: null }],
    ['marks for a cache', [{ name: 'cachepoints' }], '', { grows: true, at: null, step: null }],
    [
      'another instruction each time',
      [{ name: 'maxtoken', options: { max_tokens: 9 } }, { path: 'stage.mjs' }],
      dated,
      { grows: false, step: 'dated' },
    ],
    [
      'a reminder that moves',
      [{ path: 'stage.mjs' }, { name: 'maxtoken', options: { max_tokens: 9 } }],
      reminding,
      { grows: false, step: 'reminding' },
    ],
  ];
for (const [title, entries, module, prefix] of prefixes) {
  for (const format of ['openai', 'anthropic', 'gemini']) {
    test(`whether a call begins with that of the turn before: ${title}, ${format}`, async (t) => {
      const upstream = await startUpstream(() => jsonAnswer({}));
      const running = await startGateway(
        {
          LOG: false,
          Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
          transformers: [...entries, { name: format }],
        },
        {},
        { files: { 'stage.mjs': module || 'export default { name: "unused", request: (request) => request };' } },
      );
      t.teardown(async () => {
        await running.stop();
        await upstream.close();
      });
      for (const [client, body] of asking) {
        const { status, body: answer } = await ask(running, { client, body });
        t.is(status, 200, JSON.stringify(answer));
        t.like(answer.prefix, prefix, client);
      }
      const [[client, first] = ['messages', {}]] = asking;
      const { body: alone } = await ask(running, { client, body: { ...first, messages: talk.slice(0, 1) } });
      t.is(alone.prefix, null);
    });
  }
}

test('a request for a summary shows who writes it, by the path or by an item', async (t) => {
  const running = await gateway(t, {
    transformers: [{ name: 'openai', provider: 'p', models: ['n'], options: { api: 'responses' } }],
    Router: { default: 'p,m', compact: 'p,n', compactPrompt: 'Sum up.' },
  });
  const { upstream } = running;
  const input = [{ role: 'user', content: 'Hi' }];
  const trigger = { type: 'compaction_trigger' };
  for (const [asked, scenario, by, path, prompts] of [
    [
      { body: { model: 'any', input }, path: '/v1/responses/compact' },
      'compact',
      'provider',
      '/responses/compact',
      false,
    ],
    [{ body: { model: 'any', input: [...input, trigger] } }, 'compact', 'provider', '/responses', false],
    [{ body: { model: 'p,m', input }, path: '/responses/compact' }, 'explicit', 'model', '/chat/completions', true],
    [{ body: { model: 'p,m', input: [...input, trigger] } }, 'explicit', 'model', '/chat/completions', true],
    [
      { client: 'messages', body: { model: 'any', max_tokens: 9, messages: input, compaction: { type: 'summarize' } } },
      'compact',
      'model',
      '/responses',
      true,
    ],
  ] as const) {
    const { status, body } = await ask(running, { client: 'responses', ...asked });
    t.is(status, 200, JSON.stringify(body));
    t.like(body, { scenario, compaction: { by } });
    t.true(Number(Object(body.compaction).tokens) > 0);
    t.is(body.url, `${upstream.url}/v1${path}?key=***`);
    t.is(JSON.stringify(body.body).includes('Sum up.'), prompts);
  }
  const { body } = await ask(running, { client: 'responses', body: { model: 'any', input } });
  t.is(body.compaction, null);
});

test('the request is shown before and after each stage that it runs through, if that is asked for', async (t) => {
  const running = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9/v1', apiKey: secret, models: ['m'] }],
      transformers: [
        { name: 'maxtoken', provider: 'p', models: ['n'], options: { max_tokens: 1 } },
        { name: 'maxtoken', options: { max_tokens: 8 } },
        { path: 'sign.mjs' },
      ],
    },
    {},
    {
      files: {
        'sign.mjs':
          'export default { name: "sign", request: (request) => ({ ...request, system: [{ type: "text", text: "s" }] }) };',
      },
    },
  );
  t.teardown(running.stop);
  const turn = { role: 'user', content: `Hi ${secret}` };
  // The dry run also prepares the conversation before the last turn: its stages are not shown.
  const body = { model: 'p,m', max_tokens: 99, messages: [turn, { role: 'assistant', content: 'Hello' }, turn] };
  const { body: shown } = await ask(running, { client: 'messages', body, stages: true });
  t.like(shown.stages, [
    { name: 'maxtoken', entry: 'transformers[1]', before: { maxTokens: 99 }, after: { maxTokens: 8 } },
    { name: 'sign', entry: 'transformers[2]', before: { maxTokens: 8 }, after: { system: [{ text: 's' }] } },
  ]);
  t.is(Object(shown.stages).length, 2);
  t.false(JSON.stringify(shown.stages).includes(secret));
  t.false('stages' in (await ask(running, { client: 'messages', body })).body);
});
