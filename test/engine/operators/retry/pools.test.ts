import test, { type ExecutionContext } from 'ava';
import { readMessagesStream } from '../../../support/readers/messages.ts';
import { until } from '../../../support/until.ts';
import type { Script } from '../../../support/upstreams/upstream.ts';
import { begun, failing, good, inTurn, rig } from './rig.ts';

const large = (strategy: string, ...names: readonly string[]) => ({
  Pools: [{ name: 'large', strategy, members: names.map((name) => ({ to: `${name},m` })) }],
});

/** A gateway whose default is a pool of all its upstreams. */
const poolRig = (t: ExecutionContext, scripts: readonly Script[], strategy: string, config: object = {}) =>
  rig(t, scripts, {
    config: {
      ...large(strategy, ...scripts.map((_, at) => 'abcdef'.charAt(at))),
      Router: { default: 'large' },
      ...config,
    },
  });

const said = (text: string): string => /"text":"(\w+)"/.exec(text)?.[1] ?? text;

const conversation = (text: string) => ({ messages: [{ role: 'user', content: text }] });

test('a conversation stays with its member, streamed or not; others go elsewhere', async (t) => {
  const { ask } = await poolRig(t, [good('a'), good('b'), good('c')], 'sticky');
  const members = new Set<string>();
  for (const task of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']) {
    const first = said((await ask(conversation(task))).text);
    members.add(first);
    for (const stream of [true, false]) {
      const messages = [
        ...conversation(task).messages,
        { role: 'assistant', content: 'x' },
        ...conversation('go on').messages,
      ];
      const { text, headers } = await ask({ messages, stream });
      t.is(stream ? readMessagesStream(text).text : said(text), first);
      t.is(headers['x-junctor-route'], `${first},m;default`);
    }
  }
  t.deepEqual([...members].sort(), ['a', 'b', 'c']);
});

test('a member that fails is followed by another at once, before the fallbacks, streamed or not', async (t) => {
  for (const stream of [true, false]) {
    const scripts = [failing(503), failing(500), failing(503), good('d')];
    const { ask, upstreams, get, metric } = await rig(t, scripts, {
      config: {
        ...large('weighted', 'a', 'b', 'c'),
        Router: { default: 'large', fallback: { default: ['a,m', 'd,m'] } },
      },
    });
    const { status, text, headers } = await ask({ stream });
    t.is(status, 200, text);
    t.is(stream ? readMessagesStream(text).text : said(text), 'd');
    t.deepEqual(
      upstreams.map(({ requests }) => requests.length).sort(),
      [1, 1, 1, 3],
      'only the last member is tried again, and the fallback that is a member is not repeated',
    );
    t.is(String(headers['x-junctor-attempts']).split('; ').length, 5);
    const { requests } = await get<{ requests: { pool?: string; provider: string; reason: string }[] }>(
      '/api/requests',
    );
    t.like(requests[0], { provider: 'd' });
    t.is(requests[0]?.pool, undefined, 'a fallback is not of the pool');
    t.is((await metric('fallbacks_total')).length, 3);
  }
});

test('a stream that has begun stays with its member', async (t) => {
  const { ask, upstreams } = await poolRig(
    t,
    [() => ({ ...begun(), finish: 'reset' }), () => ({ ...begun(), finish: 'reset' })],
    'weighted',
  );
  const { text } = await ask({ stream: true });
  t.regex(text, /event: error/);
  t.is(
    upstreams.reduce((sum, { requests }) => sum + requests.length, 0),
    1,
  );
});

test('a member whose breaker is open is passed, and comes back after its time', async (t) => {
  let nowMs = 1_000_000;
  const { ask, upstreams } = await rig(t, [inTurn(failing(501), failing(501), good('a')), good('b')], {
    healthNowMs: () => nowMs,
    config: { ...large('weighted', 'a', 'b'), Router: { default: 'large' }, BREAKER: { faults: 2, openMs: 60_000 } },
  });
  const [first, second] = upstreams;
  for (let count = 0; first?.requests.length !== 2 && count < 20; count += 1) t.regex((await ask()).text, /"b"/);
  t.is(first?.requests.length, 2);
  const before = second?.requests.length ?? 0;
  for (let count = 0; count < 10; count += 1) t.is((await ask()).headers['x-junctor-attempts'], undefined);
  t.is(first?.requests.length, 2);
  t.is(second?.requests.length, before + 10);
  nowMs += 60_001;
  const later = await Promise.all(Array.from({ length: 10 }, () => ask()));
  t.true(later.some(({ text }) => said(text) === 'a'));
});

test('no member can be used: the fallback answers; without one the client is told why', async (t) => {
  const rest = { ...large('sticky', 'a', 'b'), BREAKER: { faults: 1 } };
  const withFallback = await rig(t, [failing(501), failing(501), good('c')], {
    config: { ...rest, Router: { default: 'large', fallback: { default: ['c,m'] } } },
  });
  t.is(said((await withFallback.ask()).text), 'c');
  const { text, headers } = await withFallback.ask();
  t.is(said(text), 'c');
  t.regex(String(headers['x-junctor-attempts']), /^[ab],m=breaker_open$/);

  const alone = await rig(t, [failing(501), failing(501)], { config: { ...rest, Router: { default: 'large' } } });
  t.is((await alone.ask()).status, 501);
  const refused = await alone.ask();
  t.is(refused.status, 503);
  t.regex(refused.text, /[ab],m has failed several times in a row/);
  t.truthy(refused.headers['retry-after']);
});

test('a request that only one format can carry goes on to a member of that format', async (t) => {
  const { ask, upstreams } = await rig(t, [good('a'), failing(400)], {
    config: {
      ...large('weighted', 'a', 'b'),
      Router: { default: 'large' },
      transformers: [
        { name: 'anthropic', provider: 'a' },
        { name: 'openai', provider: 'b', options: { api: 'responses' } },
      ],
    },
  });
  const stored = { input: 'hi', previous_response_id: 'resp_1' };
  for (let count = 0; count < 4; count += 1) t.regex((await ask(stored, '/v1/responses')).text, /trouble 400/);
  t.deepEqual(
    upstreams.map(({ requests }) => requests.length),
    [0, 4],
  );
});

test('the least busy one is asked: streams count until their end', async (t) => {
  const { upstreams, baseUrl } = await poolRig(t, [begun, begun], 'least-busy');
  const open = () =>
    fetch(`${baseUrl}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', max_tokens: 9, stream: true, ...conversation('hi') }),
    });
  // The list keeps them open: an answer that nothing refers to ends when it is collected as garbage.
  const answers: Response[] = [];
  t.teardown(() => Promise.all(answers.map(({ body }) => body?.cancel())));
  while (answers.length < 6) answers.push(await open());
  t.deepEqual(
    upstreams.map(({ requests }) => requests.length),
    [3, 3],
  );
});

test('the fastest one is preferred, by the time until its answers begin', async (t) => {
  let nowMs = 1_000_000;
  const slow: Script = (asked) => {
    nowMs += 2_000;
    return good('a')(asked);
  };
  const fast: Script = (asked) => {
    nowMs += 20;
    return good('b')(asked);
  };
  const { ask, upstreams, get } = await rig(t, [slow, fast], {
    healthNowMs: () => nowMs,
    config: { ...large('fastest', 'a', 'b'), Router: { default: 'large' } },
  });
  for (let count = 0; count < 20; count += 1) await ask({ stream: count % 2 === 0 });
  t.deepEqual(
    upstreams.map(({ requests }) => requests.length),
    [1, 19],
  );
  const { reason, pool } = await get<{ reason: string; pool: object }>('/api/explain?model=any');
  t.regex(reason, /; pool large, fastest: b,m, its answers begin after \d+ ms, those of a,m after \d+ ms$/);
  t.like(pool, { name: 'large', strategy: 'fastest' });
});

test('a client may name a pool, by a tag and an alias too; records and lists say so', async (t) => {
  const { ask, get } = await rig(t, [good('a'), good('b')], {
    config: { ...large('sticky', 'a', 'b'), Router: { default: 'a,m' } },
  });
  const tag = { system: 'Be brief. <JUNCTOR-MODEL>large</JUNCTOR-MODEL>' };
  const asked = [{ model: 'large' }, { model: 'anthropic-junctor-large' }, tag];
  const answers = await Promise.all(asked.map((over) => ask(over)));
  t.is(new Set(answers.map(({ text }) => said(text))).size, 1, 'one conversation');
  t.deepEqual(
    answers.map(({ headers }) => String(headers['x-junctor-route']).split(';')[1]),
    ['explicit', 'explicit', 'tag'],
  );
  await until(async () => (await get<{ requests: object[] }>('/api/requests')).requests.length === 3);
  const { requests } = await get<{ requests: { pool: string; provider: string; model: string }[] }>('/api/requests');
  for (const summary of requests) {
    t.is(summary.pool, 'large');
    t.is(`${summary.provider},${summary.model}`, `${said(answers[0]?.text ?? '')},m`);
  }
  const { data } = await get<{ data: { id: string; owned_by: string }[] }>('/v1/models');
  t.like(
    data.find(({ id }) => id === 'large'),
    { owned_by: 'junctor' },
  );
  t.true(data.some(({ id }) => id === 'anthropic-junctor-large'));
});

test('a preset may have pools of its own', async (t) => {
  const { ask } = await rig(t, [good('a'), good('b')], {
    files: { 'presets/two/manifest.json': JSON.stringify({ ...large('weighted', 'b'), Router: { default: 'large' } }) },
    config: { Router: { default: 'a,m' } },
  });
  t.is(said((await ask()).text), 'a');
  t.is(said((await ask({}, '/preset/two/v1/messages')).text), 'b');
});

test('a pool of a fallback stands for its members', async (t) => {
  const { ask } = await rig(t, [failing(501), failing(501), good('c')], {
    config: { ...large('weighted', 'b', 'c'), Router: { default: 'a,m', fallback: { default: ['large'] } } },
  });
  for (let count = 0; count < 3; count += 1) {
    const { text, headers } = await ask();
    t.is(said(text), 'c');
    t.regex(String(headers['x-junctor-attempts']), /^a,m=501(; b,m=501)?$/);
  }
});

test('a dry run chooses without changing what comes next, and says who would be passed', async (t) => {
  const { ask, get } = await poolRig(t, [good('a'), good('b')], 'weighted');
  const explain = () =>
    get<{ provider: string; pool: { members: object[] }; fallbacks: { provider: string }[] }>('/api/explain?model=any');
  const first = await explain();
  t.is((await explain()).provider, first.provider);
  t.deepEqual(
    first.fallbacks.map(({ provider }) => provider),
    first.provider === 'a' ? ['b'] : ['a'],
  );
  const asked = new Set<string>();
  for (let count = 0; count < 6; count += 1) {
    const { provider } = await explain();
    t.is(said((await ask()).text), provider);
    asked.add(provider);
  }
  t.is(asked.size, 2, 'both have their turns');
});
