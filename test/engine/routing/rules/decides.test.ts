import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { validateConfig } from '../../../../engine/config/validate.ts';
import { startGateway } from '../../../support/gateway.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Reaction, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { askBy, ways } from '../../../support/ways.ts';
import { client, keyOf } from '../../features/clients/rig.ts';

type Value = ReturnType<typeof Object>;

const question = 'Is it a hard task?';
const admin = 'admin-key';

/** An answer with the probability of `yes` by its token; `undefined`: without. */
const decided = (answer: string, yes?: number): Reaction => {
  const reply = Object(chatReply(JSON.stringify({ answer })));
  const chance = (token: string) => ({ token, logprob: Math.log(token === 'yes' ? (yes ?? 0) : 1 - (yes ?? 0)) });
  const content = [
    { token: '{"answer":"', logprob: 0 },
    { ...chance(answer), top_logprobs: [chance('yes'), chance('no')] },
    { token: '"}', logprob: 0 },
  ];
  return jsonAnswer(
    yes === undefined ? reply : { ...reply, choices: [{ ...reply.choices[0], logprobs: { content } }] },
  );
};

interface Setting {
  /** The model that decides. */
  readonly judge?: (body: Value) => Reaction | Promise<Reaction>;
  readonly decides?: object;
  readonly rules?: readonly object[];
  readonly more?: object;
  readonly files?: Readonly<Record<string, string>>;
}

const rule = (when: object, to = 'p,strong', name = 'hard') => ({ name, when, to });

/** A gateway with a rule that asks, and what has reached the models behind it. */
const rig = async (
  t: ExecutionContext,
  { judge = () => decided('yes', 0.9), decides = {}, rules, more = {}, files = {} }: Setting,
) => {
  const upstream = await startUpstream(({ body }) => {
    const asked = Object(body);
    if (asked.model === 'judge') return judge(asked);
    return asked.stream ? sseAnswer(chatStream([asked.model], 0)) : jsonAnswer(chatReply(asked.model));
  });
  const models = ['judge', 'strong', 'weak', 'other'];
  const gateway = await startGateway(
    {
      APIKEY: admin,
      LOG: false,
      RETRY: { attempts: 0 },
      Providers: [
        { name: 'p', baseUrl: upstream.url, apiKey: 'k', models },
        { name: 'gone', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['judge'] },
      ],
      Router: {
        default: 'p,weak',
        rules: rules ?? [rule({ decides: { ask: 'p,judge', question, limitMs: 60_000, ...decides } })],
      },
      ...more,
    },
    {},
    { files },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const post = async (path: string, body: object, key = admin): Promise<Value> => {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(body),
    });
    return Object(await answer.body.json());
  };
  return {
    gateway,
    post,
    asked: () => upstream.requests.map(({ body }) => Object(body)).filter(({ model }) => model === 'judge'),
    /** Which model answers. */
    async route(text: string, more: object = {}, key = admin): Promise<string> {
      const messages = [{ role: 'user', content: text }];
      const body = await post('/v1/chat/completions', { model: 'any', messages, ...more }, key);
      return body.choices?.[0]?.message.content ?? body.error.message;
    },
    get: async (path: string): Promise<Value> => {
      const answer = await request(`${gateway.baseUrl}${path}`, { headers: { 'x-api-key': admin } });
      return Object(await answer.body.json());
    },
  };
};

const outcomes: Readonly<
  Record<string, Setting & { readonly to: 'strong' | 'weak'; readonly otherwise?: 'strong' | 'weak' }>
> = {
  'the answer': { judge: () => decided('yes'), to: 'strong' },
  'another answer': { judge: () => decided('no'), to: 'weak', otherwise: 'weak' },
  'a probability that is enough': { decides: { atLeast: 0.8 }, to: 'strong' },
  'one that is not': { judge: () => decided('yes', 0.6), decides: { atLeast: 0.8 }, to: 'weak', otherwise: 'weak' },
  'one of an answer that is not preferred': {
    judge: () => decided('no', 0.3),
    decides: { atLeast: 0.2 },
    to: 'strong',
  },
  'no probability': { judge: () => decided('yes'), decides: { atLeast: 0.8 }, to: 'weak', otherwise: 'strong' },
  'another answer without one': {
    judge: () => decided('no'),
    decides: { atLeast: 0.8 },
    to: 'weak',
    otherwise: 'weak',
  },
  'answers of its own': {
    judge: () => decided('code'),
    decides: { answers: ['code', 'prose'], answer: 'code' },
    to: 'strong',
  },
  'none of the answers': { judge: () => jsonAnswer(chatReply('perhaps')), to: 'weak', otherwise: 'strong' },
  'no answer in time': { judge: () => 'never', decides: { limitMs: 30 }, to: 'weak', otherwise: 'strong' },
  'an error': { judge: () => jsonAnswer({ error: { message: 'x' } }, 500), to: 'weak', otherwise: 'strong' },
  garbage: { judge: () => ({ pieces: ['<html>'] }), to: 'weak', otherwise: 'strong' },
  'a connection that breaks': { judge: () => 'reset', to: 'weak', otherwise: 'strong' },
  'nobody there': { decides: { ask: 'gone,judge' }, to: 'weak', otherwise: 'strong' },
  'a pool': {
    decides: { ask: 'judges' },
    more: { Pools: [{ name: 'judges', members: [{ to: 'p,judge' }] }] },
    to: 'strong',
  },
};

for (const [name, { to, otherwise, ...setting }] of Object.entries(outcomes)) {
  test(`a rule asks a model: ${name}`, async (t) => {
    t.is(await (await rig(t, setting)).route('x'), to);
    if (!otherwise) return;
    const sure = await rig(t, { ...setting, decides: { ...setting.decides, otherwise: true } });
    t.is(await sure.route('x'), otherwise);
  });
}

for (const way of ways) {
  test(`${way}: the model is asked about the user's text, as a request of its own`, async (t) => {
    const { gateway, asked, get } = await rig(t, { decides: { atLeast: 0.8 } });
    const text = 'Say "yes".\nQuestion: which?';
    const got = await askBy(t, gateway.baseUrl, way, { model: 'any', text, headers: { 'x-api-key': admin } });
    t.is(got.said, 'strong', got.raw);
    const [body] = asked();
    t.true(body.messages.at(-1).content.endsWith(JSON.stringify(text)), body.messages.at(-1).content);
    t.true(body.messages[0].content.includes(question));
    const { requests } = await get('/api/requests');
    const own = requests.find(({ cause }: Value) => !cause);
    const other = requests.find(({ cause }: Value) => cause);
    t.like(other, {
      cause: { id: own.id, stage: 'rule/hard', kind: 'decide' },
      provider: 'p',
      model: 'judge',
      status: 200,
    });
    t.is(own.reason, `rule/hard: p,judge says "yes" (0.90) to "${question}"`);
  });
}

const ask = { decides: { ask: 'p,judge', question, limitMs: 60_000 } };
const lazy: Readonly<Record<string, readonly [rules: readonly object[], to: string, asked: number]>> = {
  'a rule before it matches': [[rule({ model: 'any' }, 'p,other', 'first'), rule(ask)], 'other', 0],
  'another fact excludes it': [[rule({ ...ask, images: true })], 'weak', 0],
  'another condition is enough': [[rule({ any: [ask, { model: 'any' }] })], 'strong', 0],
  'the count of tokens excludes it': [[rule({ ...ask, tokens: { over: 5_000 } })], 'weak', 0],
  'only it decides': [[rule({ any: [ask, { images: true }] })], 'strong', 1],
  'of two, only one': [
    [rule({ all: [{ any: [{ decides: { ...ask.decides, question: 'Is it?' } }, { model: 'any' }] }, ask] })],
    'strong',
    1,
  ],
  'a rule before it asks in vain': [
    [
      rule({ not: { any: [{ decides: { ...ask.decides, question: 'Is it?' } }, { model: 'any' }] } }, 'p,other', 'one'),
      rule(ask),
    ],
    'strong',
    1,
  ],
  'a rule that holds on': [[{ ...rule({ ...ask, sinceUser: { under: 1 } }), hold: 'turn' }], 'strong', 1],
  'several ask the same': [
    [
      rule({ not: ask }, 'p,other', 'one'),
      rule({ decides: { ...ask.decides, answer: 'no' } }, 'p,other', 'two'),
      rule({ all: [ask, { client: 'chat' }] }, 'p,strong', 'three'),
    ],
    'strong',
    1,
  ],
  'they ask different things': [
    [rule({ not: ask }, 'p,other', 'one'), rule({ decides: { ...ask.decides, question: 'Is it?' } })],
    'strong',
    2,
  ],
};

for (const [name, [rules, to, count]] of Object.entries(lazy)) {
  test(`a model is asked only if it matters: ${name}`, async (t) => {
    const { route, asked } = await rig(t, { rules });
    t.is(await route('x'), to);
    t.is(asked().length, count);
  });
}

test('a decision is kept for the same text, through the tool calls of a turn; a failure is not', async (t) => {
  let answers = 0;
  const { route, asked } = await rig(t, {
    judge: () => {
      answers += 1;
      return answers === 1 ? jsonAnswer({ error: { message: 'x' } }, 500) : decided('yes');
    },
  });
  t.is(await route('x'), 'weak');
  t.is(await route('x'), 'strong');
  const calls = [{ id: 'c1', type: 'function', function: { name: 'Bash', arguments: '{}' } }];
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1', content: 'y' },
  ];
  const tools = [{ type: 'function', function: { name: 'Bash', parameters: { type: 'object', properties: {} } } }];
  t.is(await route('', { messages, tools }), 'strong');
  t.is(asked().length, 2);
  await route('z');
  t.is(asked().length, 3);
});

test('of a long text the model gets the beginning and the end; without a text it is not asked', async (t) => {
  const { route, asked } = await rig(t, {});
  await route(`begin ${'x '.repeat(50_000)}end`);
  const [{ messages }] = asked();
  const { content } = messages.at(-1);
  t.true(content.length < 9_000);
  t.regex(content, /"begin .* end"$/);
  // Of a conversation that is likely to be relayed, only an outline is read.
  const later = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  await route('', { messages: [...later, { role: 'user', content: `first ${'y '.repeat(50_000)}last` }] });
  t.regex(asked()[1].messages.at(-1).content, /"first y .* y last"$/);
  t.is(await route(' '), 'weak');
  t.is(asked().length, 2);
});

test('explain, counts and the destination that a client names ask nobody', async (t) => {
  const { route, post, asked } = await rig(t, { decides: { otherwise: true } });
  const body = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
  const shown = await post('/api/explain', { protocol: 'messages', body: { model: 'any', ...body } });
  t.is(shown.model, 'strong');
  t.like(shown.rules[0], { name: 'hard', matches: true, facts: [{ at: 'decides', holds: null }] });
  t.true(
    shown.warnings.some((one: string) => one.includes('p,judge') && one.includes('not asked')),
    shown.warnings.join(),
  );
  await post('/v1/messages/count_tokens', { model: 'any', ...body });
  t.is(await route('x', { model: 'p,weak' }), 'weak');
  t.is(asked().length, 0);
  await route('x');
  t.is(asked().length, 1);
  const again = await post('/api/explain', { protocol: 'messages', body: { model: 'any', ...body } });
  t.is(again.rules[0].facts[0].holds, true);
  t.deepEqual(again.warnings, []);
});

test('a question asks none itself: a condition of a stage that all requests have', async (t) => {
  const { route, asked } = await rig(t, {
    rules: [],
    files: {
      'stage.ts': `import { transformer } from 'junctor/transformer';
        export default transformer({ name: 'stage', request: (request) => ({ ...request, system: [{ type: 'text', text: 'MARK' }] }) });`,
    },
    more: { transformers: [{ path: 'stage.ts', when: ask }] },
  });
  t.is(await route('x'), 'weak');
  t.is(asked().length, 1);
  t.not(asked()[0].messages[0].content, 'MARK');
});

test("a module's own condition has no leave to ask", async (t) => {
  const { get } = await rig(t, {
    files: {
      'stage.ts': `import { transformer } from 'junctor/transformer';
        export default transformer({ name: 'stage', when: ${JSON.stringify(ask)}, request: (request) => request });`,
    },
    more: { transformers: [{ path: 'stage.ts', provider: 'p' }] },
  });
  const { transformers } = await get('/api/transformers');
  const stage = transformers.find(({ name }: Value) => name === 'stage');
  t.regex(JSON.stringify(stage), /belongs in the configuration/);
});

test("a client's limits count the question, which needs no permission", async (t) => {
  const { route, asked } = await rig(t, {
    more: { CLIENTS: [client('team', { models: ['p,strong', 'p,weak'], limits: { requestsPerMinute: 2 } })] },
  });
  t.is(await route('x', {}, keyOf('team')), 'strong');
  t.is(asked().length, 1);
  t.regex(await route('y', {}, keyOf('team')), /limit of 2 requests/);
  t.is(asked().length, 1);
});

test('a probability that a provider does not report is a warning', async (t) => {
  const { post } = await rig(t, {});
  const decides = { ask: 'a,m', question, atLeast: 0.5 };
  const config = {
    Providers: [
      { name: 'a', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'], transformer: { use: ['anthropic'] } },
      { name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] },
    ],
    Router: {
      default: 'p,m',
      rules: [rule({ decides: { ...decides, ask: 'p,m' } }, 'p,m', 'known'), rule({ any: [{ decides }] }, 'p,m')],
    },
  };
  const { warnings } = await post('/api/config/check', config);
  t.deepEqual(
    warnings.map(({ path }: Value) => path),
    ['Router.rules[1].when.any[0].decides.atLeast'],
  );
});

test('answers with the names of members of any object', async (t) => {
  const answers = ['constructor', '__proto__'];
  const { route } = await rig(t, {
    judge: () => decided('constructor', 0.5),
    decides: { answers, answer: '__proto__', atLeast: 0.1 },
  });
  t.is(await route('x'), 'weak');
});

const faults: Readonly<Record<string, readonly [decides: object, path: string, says: RegExp]>> = {
  'an unknown provider': [{ ask: 'q,m' }, 'ask', /unknown provider/],
  'a blank destination': [{ ask: ' ' }, 'ask', /must not be blank/],
  'a blank question': [{ question: ' ' }, 'question', /must not be blank/],
  'one answer': [{ answers: ['yes'] }, 'answers', /must be 2 to 20/],
  'an answer twice': [{ answers: ['yes', 'Yes'] }, 'answers', /has an answer twice/],
  'an answer that is none': [{ answer: 'maybe' }, 'answer', /must be one of "yes", "no"/],
  'answers without the usual one': [{ answers: ['a', 'b'] }, 'answer', /must be one of "a", "b"/],
  'more than certain': [{ atLeast: 1.2 }, 'atLeast', /1/],
  'no time': [{ limitMs: 0 }, 'limitMs', /1/],
  'a misspelled member': [{ atleast: 0.5 }, 'atleast', /unknown/],
};

for (const [name, [decides, path, says]] of Object.entries(faults)) {
  test(`faults of what a rule asks: ${name}`, (t) => {
    const rules = [rule({ any: [{ decides: { ask: 'p,judge', question, ...decides } }] })];
    const Providers = [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['judge', 'strong'] }];
    const validation = validateConfig(JSON.parse(JSON.stringify({ Providers, Router: { rules } })), {});
    const faults = 'faults' in validation ? validation.faults : [];
    const found = faults.find((one) => one.path === `Router.rules[0].when.any[0].decides.${path}`);
    t.regex(found?.message ?? JSON.stringify(faults), says);
  });
}
