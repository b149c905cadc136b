import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Reaction, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, keyOf } from '../../features/clients/rig.ts';

const key = { 'x-api-key': adminKey };

const stage = (around: string, name = 'stage'): string =>
  `import { answer, rx, replay, transformer, whole } from 'junctor/transformer';
   export default transformer({ name: '${name}', async around(request, next, context) { ${around} } });`;

type Body = ReturnType<typeof Object>;

/** A gateway with these modules, each of them for the model of its name, and the upstream behind it. */
const rig = async (
  t: ExecutionContext,
  modules: Readonly<Record<string, string>>,
  {
    more = {},
    script = ({ model, stream, messages }: Body): Reaction | Promise<Reaction> => {
      const text = `${model} heard ${messages.at(-1).content}`;
      return stream ? sseAnswer(chatStream([...text], 0)) : jsonAnswer(chatReply(text));
    },
    nowMs,
  }: {
    readonly more?: object;
    readonly script?: (body: Body) => Reaction | Promise<Reaction>;
    readonly nowMs?: () => number;
  } = {},
) => {
  const upstream = await startUpstream(({ body }) => script(Object(body)));
  const config = (over: object): object => ({
    APIKEY: adminKey,
    LOG: false,
    RETRY: { attempts: 0 },
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', 'around'] }],
    transformers: Object.keys(modules).map((name) => ({
      path: `${name}.ts`,
      models: [name],
      ask: ['p,m', 'p,other', 'p,silent'],
    })),
    ...more,
    ...over,
  });
  const gateway = await startGateway(
    config({}),
    {},
    {
      files: Object.fromEntries(Object.entries(modules).map(([name, text]) => [`${name}.ts`, text])),
      ...(nowMs && { nowMs }),
    },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = key, signal?: AbortSignal) =>
    request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  return {
    gateway,
    post,
    asked: (model: string) => upstream.requests.filter(({ body }) => Object(body).model === model),
    async ask(model: string, headers = key): Promise<{ readonly status: number; readonly said: string }> {
      const messages = [{ role: 'user', content: 'x' }];
      const answer = await post('/v1/chat/completions', { model: `p,${model}`, messages }, headers);
      const body = Object(await answer.body.json());
      return {
        status: answer.statusCode,
        said: String(body.choices?.[0]?.message?.content ?? body.error?.message),
      };
    },
    async configure(over: object): Promise<void> {
      const answer = await post('/api/config', config(over));
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(text);
    },
    async get(path: string): Promise<Body> {
      const answer = await request(gateway.baseUrl + path, { headers: key });
      return Object(await answer.body.json());
    },
  };
};

/** A stream of which only the beginning comes. */
const unfinished = sseAnswer([...chatStream(['Hello'], 0)].slice(0, 1), 'stall');

const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'x' }] },
  '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
  '/v1/responses': { input: 'x' },
} as const;

for (const [path, body] of Object.entries(bodies)) {
  test(`${path}: a client that leaves in the middle of a streamed answer ends the call`, async (t) => {
    const { post, asked } = await rig(t, { passing: stage('return next(request);') }, { script: () => unfinished });
    const controller = new AbortController();
    const answer = await post(path, { ...body, model: 'p,passing', stream: true }, key, controller.signal);
    let text = '';
    try {
      for await (const piece of answer.body) {
        text += piece;
        if (text.includes('Hello')) controller.abort();
      }
    } catch {
      // The answer is aborted.
    }
    await asked('passing')[0]?.closed;
    t.is(asked('passing').length, 1);
    t.true(text.includes('Hello'));
  });

  test(`${path}: a stage that completes early ends the call, and the answer is whole`, async (t) => {
    const early = stage(`return rx.concat(
      next(request).pipe(rx.takeWhile((batch) => !batch.some(({ type }) => type === 'text-delta'), true)),
      rx.of([{ type: 'block-stop', index: 0 }, { type: 'message-stop', finish: 'end', usage: {} }]));`);
    const { post, asked } = await rig(t, { early }, { script: () => unfinished });
    const answer = await post(path, { ...body, model: 'p,early', stream: true });
    const text = await answer.body.text();
    await asked('early')[0]?.closed;
    t.regex(text, /Hello[\s\S]*(?:\[DONE\]|message_stop|response\.completed)/);
    t.notRegex(text, /event: error|response\.failed|"error":\{/);
  });
}

test('`next` and `ask` are cold: there is no call without a subscription', async (t) => {
  const { ask, asked } = await rig(t, {
    cold: stage(`next(request); next(request, { to: 'p,other' }); context.ask('p,m', 'x');
      context.ask('p,m', 'x').events; return answer('mine');`),
  });
  const { said } = await ask('cold');
  t.is(said, 'mine');
  t.deepEqual([asked('cold').length, asked('other').length, asked('m').length], [0, 0, 0]);
});

test('each subscription of the same `next` is one call', async (t) => {
  const { ask, asked } = await rig(t, {
    again: stage(`const call = next(request);
      return whole(call).pipe(rx.mergeMap((one) => whole(call).pipe(rx.mergeMap((two) => answer(one.text + two.text)))));`),
  });
  await ask('again');
  t.is(asked('again').length, 2);
});

test('a question with a key is asked again only when its answer is too old', async (t) => {
  const clock = { nowMs: Date.parse('2026-01-31T22:00:00Z') };
  const { ask, asked } = await rig(
    t,
    { kept: stage(`return answer((await context.ask('p,m', 'q', { key: 'k', keepMs: 60_000 })).text);`) },
    { nowMs: () => clock.nowMs },
  );
  const answers = [await ask('kept'), await ask('kept')];
  const inTime = asked('m').length;
  clock.nowMs += 59_999;
  await ask('kept');
  const justInTime = asked('m').length;
  clock.nowMs += 2;
  await ask('kept');
  t.deepEqual(
    answers.map(({ said }) => said),
    ['m heard q', 'm heard q'],
  );
  t.deepEqual([inTime, justInTime, asked('m').length], [1, 1, 2]);
});

test('questions within questions: two deep, and the third names its stage and says why', async (t) => {
  const deep = (name: string): string =>
    stage(`const { text } = await context.ask('p,deep', '${name}'); return answer('${name}: ' + text);`, name);
  const names = ['one', 'two', 'three'];
  const entry = (name: string) => ({ path: `${name}.ts`, models: ['deep'], ask: ['p,deep'] });
  const rigOf = (count: number) =>
    rig(t, Object.fromEntries(names.slice(0, count).map((name) => [name, deep(name)])), {
      more: { transformers: names.slice(0, count).map(entry) },
    });
  const two = await rigOf(2);
  t.deepEqual(await two.ask('deep'), { status: 200, said: 'one: two: deep heard two' });
  const three = await rigOf(3);
  const { status, said } = await three.ask('deep');
  t.is(status, 500);
  t.is(said, 'Transformer "three" failed in ask("p,deep"): is too deep: it would be within 2 other calls of stages.');
  t.is(three.asked('deep').length, 0);
});

test('questions use up the limits of the client, who needs no permission for their model', async (t) => {
  const { ask, asked } = await rig(
    t,
    {
      asks: stage(`const texts = []; for (const n of [1, 2]) texts.push((await context.ask('p,other', 'q' + n)).text);
        return answer(texts.join());`),
    },
    { more: { CLIENTS: [client('a', { models: ['p,asks'], limits: { requestsPerMinute: 2 } }), client('b')] } },
  );
  const limited = await ask('asks', { 'x-api-key': keyOf('a') });
  const asked1 = asked('other').length;
  const free = await ask('asks', { 'x-api-key': keyOf('b') });
  t.is(limited.status, 500);
  t.regex(limited.said, /"stage".*ask\("p,other"\).*The client a has reached its limit of 2 requests per minute/);
  t.is(asked1, 1);
  t.deepEqual(free, { status: 200, said: 'other heard q1,other heard q2' });
});

test('`spent` is what the client has used, with its questions; others have their own', async (t) => {
  const { ask, post, get } = await rig(
    t,
    {
      spends: stage(`await context.ask('p,m', 'q'); return next(request);`),
      spent: stage('return answer(JSON.stringify(context.spent()));'),
    },
    {
      more: { CLIENTS: [client('a'), client('b', { budget: { usd: 1, per: 'day' } })] },
      script({ stream }) {
        const usage = { prompt_tokens: 500, completion_tokens: 100 };
        if (!stream) return jsonAnswer({ ...chatReply('x'), usage });
        const last = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`;
        return sseAnswer([...chatStream(['x'], 0)].toSpliced(-1, 0, last));
      },
    },
  );
  await ask('spends', { 'x-api-key': keyOf('a') });
  const [a, b] = [await ask('spent', { 'x-api-key': keyOf('a') }), await ask('spent', { 'x-api-key': keyOf('b') })];
  const messages = [{ role: 'user', content: 'x' }];
  const streamed = await post(
    '/v1/chat/completions',
    { model: 'p,spends', messages, stream: true },
    { 'x-api-key': keyOf('a') },
  );
  await streamed.body.text();
  const later = await ask('spent', { 'x-api-key': keyOf('a') });
  const { requests } = await get('/api/requests');
  const asked = requests.filter(({ cause }: Body) => cause?.kind === 'ask');
  t.deepEqual(
    asked.map(({ usage }: Body) => usage),
    [
      { input: 500, output: 100 },
      { input: 500, output: 100 },
    ],
    'the history has what each question used',
  );
  t.deepEqual(JSON.parse(a.said).usage, { input: 1000, output: 200 });
  t.deepEqual(JSON.parse(later.said).usage, { input: 2000, output: 400 });
  t.deepEqual(JSON.parse(b.said).usage, { input: 0, output: 0 });
});

test('the graph has the box of a stage: what it is around, what it may ask, and where its answer comes out', async (t) => {
  const { get } = await rig(
    t,
    { box: stage('return next(request);') },
    {
      more: {
        transformers: [
          { path: 'box.ts', ask: ['p,m', 'p,other'] },
          { name: 'maxtoken', options: { max_tokens: 99 } },
        ],
      },
    },
  );
  const { graphs } = await get('/api/graph?client=messages&provider=p&model=box');
  const [{ nodes, edges, passThrough }] = graphs;
  const box = nodes.find(({ step }: Body) => step === 'stage-around');
  const out = nodes.find(({ step }: Body) => step === 'stage-answer');
  t.like(box, { name: 'stage', asks: ['p,m', 'p,other'], path: 'box.ts', entry: 'transformers[0]' });
  const inside = box.wraps.map((id: string) => nodes.find((node: Body) => node.id === id)?.step);
  t.deepEqual(inside.slice(0, 3), ['stage-request', 'encode-request', 'call-upstream']);
  t.true(inside.includes('decode-stream') && !inside.includes('encode-stream'), inside.join());
  t.true(edges.some(({ from, to }: Body) => from === box.id && box.wraps.includes(to)));
  t.true(edges.some(({ from, to }: Body) => box.wraps.includes(from) && to === out.id));
  t.true(edges.some(({ from }: Body) => from === out.id));
  t.false(passThrough.request.open || passThrough.reply.open);
});

test('a request goes on with the stage that it began with, also if that is renamed; the next one has the new one', async (t) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const marking = (name: string): string =>
    stage(
      `const { text } = await rx.firstValueFrom(whole(next(request)));
       const { text: more } = await context.ask('p,m', 'more');
       return answer('${name}: ' + text + ', ' + more);`,
      name,
    );
  const { ask, asked, configure } = await rig(
    t,
    { before: marking('before'), after: marking('after') },
    {
      more: { transformers: [{ path: 'before.ts', models: ['held'], ask: ['p,m'] }] },
      async script({ model, messages }) {
        if (model === 'held') await released;
        return jsonAnswer(chatReply(`${model} heard ${messages.at(-1).content}`));
      },
    },
  );
  const first = ask('held');
  await until(() => asked('held').length === 1);
  await configure({ transformers: [{ path: 'after.ts', models: ['held'], ask: ['p,m'] }] });
  release();
  t.deepEqual(await first, { status: 200, said: 'before: held heard x, m heard more' });
  t.deepEqual(await ask('held'), { status: 200, said: 'after: held heard x, m heard more' });
});

test('what a stage remembers outlives a change of the configuration', async (t) => {
  const { ask, configure } = await rig(t, {
    counts: stage(`const before = await context.memory.get('text');
      context.memory.set('text', 'kept', { ms: 600_000 });
      return answer(before + ' ' + await context.memory.add('n', 1, { ms: 86_400_000 }));`),
  });
  const before = await ask('counts');
  await configure({ RETRY: { attempts: 1 }, transformers: [{ path: 'counts.ts', models: ['counts'], options: {} }] });
  const after = await ask('counts');
  t.is(before.said, 'undefined 1');
  t.is(after.said, 'kept 2');
});

test('a call beside the first that fails is final: the stage isn’t run again', async (t) => {
  const { ask, asked } = await rig(
    t,
    { beside: stage(`return whole(next(request)).pipe(rx.mergeMap(() => next(request, { to: 'p,other' })));`) },
    {
      more: { RETRY: { attempts: 2, baseMs: 1, maxMs: 1 }, Router: { default: 'p,m', fallback: { default: ['p,m'] } } },
      script: ({ model, messages }) =>
        model === 'other'
          ? jsonAnswer({ error: { message: 'overloaded' } }, 503)
          : jsonAnswer(chatReply(`${model} heard ${messages.at(-1).content}`)),
    },
  );
  const { status, said } = await ask('beside');
  t.is(status, 503, said);
  t.deepEqual([asked('beside').length, asked('other').length, asked('m').length], [1, 3, 0]);
});

test('a dry run says that it leaves out what is around the call', async (t) => {
  const { post } = await rig(t, { around: stage('return next(request);') });
  const explain = async (model: string) => {
    const body = { model: `p,${model}`, messages: [{ role: 'user', content: 'x' }] };
    const answer = await post('/api/explain', { client: 'chat', body });
    return Object(await answer.body.json()).warnings;
  };
  t.deepEqual(await explain('around'), [
    'Transformer "stage" (transformers[0]) is around the call, so this dry run left it out: it may change the request, call others, or answer by itself.',
  ]);
  t.deepEqual(await explain('m'), []);
});
