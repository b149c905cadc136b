import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { readMessagesStream } from '../../../support/readers/messages.ts';
import { until } from '../../../support/until.ts';
import type { Script } from '../../../support/upstreams/upstream.ts';
import { begun, cut, errorFirst, failing, good, goodChat, inTurn, quick, rig } from './rig.ts';

const statuses: readonly (readonly [status: number, calls: number])[] = [
  [400, 1],
  [401, 1],
  [402, 1],
  [403, 1],
  [404, 1],
  [408, 3],
  [409, 3],
  [413, 1],
  [422, 1],
  [429, 3],
  [500, 3],
  [501, 1],
  [502, 3],
  [503, 3],
  [504, 3],
  [529, 3],
];
test('R15 how often each status is asked for', async (t) => {
  for (const [status, calls] of statuses) {
    const { ask, upstreams } = await rig(t, [failing(status)]);
    const { text, headers } = await ask();
    t.is(upstreams[0]?.requests.length, calls, String(status));
    if (status !== 401) t.regex(text, new RegExp(`trouble ${status}`));
    const told = Array.from({ length: calls }, () => `a,m=${status}`).join('; ');
    t.is(headers['x-junctor-attempts'], calls > 1 ? told : undefined);
  }
});

const passing: readonly (readonly [title: string, script: Script])[] = [
  ['resets', () => 'reset'],
  ['closes', () => 'close'],
  ['answers 503', failing(503)],
  ['begins its stream with an error', () => errorFirst()],
  ['begins its stream with a ping and an error', () => errorFirst('event: ping\ndata: {"type":"ping"}\n\n')],
];
for (const [title, script] of passing) {
  test(`R15 an upstream that ${title} is retried; the client sees only the answer`, async (t) => {
    for (const stream of [true, false]) {
      if (!stream && title.includes('stream')) continue;
      const { ask, upstreams, metric } = await rig(t, [inTurn(script, good())]);
      const { status, text, headers } = await ask({ stream });
      t.is(status, 200, text);
      if (stream) t.is(readMessagesStream(text).text, 'fine');
      else t.regex(text, /"fine"/);
      t.is(upstreams[0]?.requests.length, 2);
      t.regex(String(headers['x-junctor-attempts']), /^a,m=(?:cut|503|overloaded)$/);
      t.is(headers['x-junctor-route'], 'a,m;default');
      t.regex(
        (await metric('retries_total')).join(),
        /^junctor_retries_total\{provider="a",reason="(?:cut|overloaded)"\} 1$/,
      );
    }
  });
}

test('a redirect is not followed: the fallback answers, or the client gets an error', async (t) => {
  const moved = failing(302, { location: 'http://127.0.0.1:1/elsewhere?key=canary' });
  for (const stream of [false, true]) {
    const { ask, upstreams } = await rig(t, [moved, good('from b')]);
    const served = await ask({ stream });
    t.is(served.status, 200);
    t.regex(served.text, /from b/);
    t.is(served.headers['x-junctor-attempts'], 'a,m=garbled');
    t.is(upstreams[0]?.requests.length, 1);

    const alone = await rig(t, [moved]);
    const refused = await alone.ask({ stream });
    t.is(refused.status, 502);
    t.regex(refused.text, /redirect \(status 302\)/);
    t.notRegex(refused.text, /canary/);
    t.is(alone.upstreams[0]?.requests.length, 1);
  }
});

// Alone: beside others, an end may be seen so late that the upstream may have begun to work, and is not asked again.
test.serial(
  'without further tries, a kept connection that is reset or closed is replaced and counted, but not for the breaker',
  async (t) => {
    for (const how of ['reset', 'close'] as const) {
      const seen = new Set<Promise<void>>();
      const breaking: Script = (asked) => {
        const isKept = seen.has(asked.closed);
        seen.add(asked.closed);
        return isKept ? how : good()(asked);
      };
      const { ask, metric } = await rig(t, [breaking], {
        config: { RETRY: { ...quick, attempts: 0 }, BREAKER: { faults: 1 } },
      });
      for (let count = 0; count < 10; count += 1) t.is((await ask()).status, 200);
      const [resends = ''] = await metric('upstream_resends_total');
      t.regex(resends, /^junctor_upstream_resends_total\{provider="a"\} [1-9]/);
    }
  },
);

test('R15 there is no retry once an answer has begun', async (t) => {
  for (const model of ['any', 'b,m']) {
    const { ask, upstreams } = await rig(t, [cut, good()], { formats: ['anthropic', 'anthropic'] });
    const { status, text } = await ask({ model: model === 'any' ? 'any' : 'a,m', stream: true });
    t.is(status, 200);
    t.regex(text, /one/);
    t.regex(text, /event: error/);
    t.is(upstreams[0]?.requests.length, 1);
    t.is(upstreams[1]?.requests.length, 0);
  }
});

test('R15 Retry-After is waited for, up to the limit', async (t) => {
  const { ask, upstreams } = await rig(t, [inTurn(failing(429, { 'retry-after': '1' }), good())]);
  const from = performance.now();
  t.is((await ask()).status, 200);
  t.true(performance.now() - from >= 990);
  t.is(upstreams[0]?.requests.length, 2);

  for (const stream of [false, true]) {
    const limits = { 'x-should-retry': 'true', 'anthropic-ratelimit-requests-limit': '5' };
    const long = await rig(t, [failing(429, { 'retry-after': '45', ...limits })], { config: { RETRY: {} } });
    const got = await long.ask({ stream });
    t.is(got.status, 429);
    t.like(got.headers, { 'retry-after': '45', ...limits });
    t.is(long.upstreams[0]?.requests.length, 1);
  }
});

test('R15 x-should-retry: false is obeyed and handed on', async (t) => {
  const { ask, upstreams } = await rig(t, [failing(500, { 'x-should-retry': 'false' })]);
  const { status, headers } = await ask();
  t.is(status, 500);
  t.is(headers['x-should-retry'], 'false');
  t.is(upstreams[0]?.requests.length, 1);
});

test('the fallbacks are asked in order, and the answer says who served', async (t) => {
  const { ask, upstreams, metric, home } = await rig(t, [failing(503), failing(400), good('never')], {
    config: { Router: { default: 'a,m', fallback: { default: ['b,m', 'c,m'] } } },
  });
  const refused = await ask();
  t.is(refused.status, 503, 'the first destination decides');
  t.regex(refused.text, /trouble 503/);
  t.is(refused.headers['x-junctor-attempts'], 'a,m=503; a,m=503; a,m=503; b,m=400');
  t.is(upstreams[2]?.requests.length, 0, 'a client fault ends it');
  t.deepEqual(await metric('fallbacks_total'), ['junctor_fallbacks_total{from="a,m",to="b,m"} 1']);
  t.regex((await metric('requests_total')).join(), /provider="a",model="m",scenario="default",status="503"\} 1/);
  // Records are written a moment later.
  await until(async () => (await lines(home)).length >= 4);
  const told = (await lines(home)).map(({ msg, next }) => `${msg} → ${next}`);
  t.regex(String(told[0]), /^attempt at a,m failed: trouble 503 → the same again in \d+ ms$/);
  t.is(told[2], 'attempt at a,m failed: trouble 503 → the fallback b,m');
  t.is(told[3], 'attempt at b,m failed: trouble 400 → nothing: the client gets the first fault');
});

const lines = async (home: string): Promise<readonly { readonly msg: string; readonly next?: string }[]> => {
  const text = await readFile(join(home, 'app.log'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line.includes('"attempt at '))
    .map((line) => JSON.parse(line));
};

for (const stream of [true, false]) {
  test(`a fallback of another format, with stages of its own, ${stream ? 'streamed' : 'whole'}`, async (t) => {
    const { ask, upstreams } = await rig(t, [() => 'reset', goodChat('from b')], {
      formats: ['anthropic', 'openai'],
      config: {
        transformers: [
          { name: 'anthropic', provider: 'a' },
          { name: 'openai', provider: 'b' },
          { name: 'maxtoken', provider: 'b', options: { max_tokens: 5 } },
        ],
      },
    });
    const { status, text, headers } = await ask({ stream, top_k: 3 });
    t.is(status, 200, text);
    if (stream) t.is(readMessagesStream(text).text, 'from b');
    else t.regex(text, /"from b"/);
    t.is(headers['x-junctor-route'], 'b,m;default');
    t.is(headers['x-junctor-attempts'], 'a,m=cut; a,m=cut; a,m=cut');
    t.regex(String(headers['x-junctor-loss']), /top_k/);
    t.like(upstreams[1]?.requests[0]?.body, { model: 'm', max_tokens: 5 });
  });
}

test('losses of a failed attempt are not reported with the answer', async (t) => {
  const { ask } = await rig(t, [failing(503), good()], { formats: ['openai', 'anthropic'] });
  const { status, headers } = await ask({ top_k: 3 });
  t.is(status, 200);
  t.is(headers['x-junctor-loss'], undefined);
});

test('after a keep-alive the status stands, but another may still answer', async (t) => {
  const { ask, upstreams } = await rig(t, [() => 'never', good('late')], {
    config: {
      TIMEOUTS: { firstByteMs: 3_000 },
      RETRY: { attempts: 0 },
    },
  });
  const { status, text } = await ask({ stream: true });
  t.is(status, 200);
  t.is(readMessagesStream(text).text, 'late');
  t.is(upstreams[0]?.requests.length, 1, 'nobody waits for a first byte twice');
});

test('an explicit destination, and a scenario without a list, have no fallback', async (t) => {
  const { ask, upstreams } = await rig(t, [failing(503), good()], {
    config: {
      Router: { default: 'a,m', routes: { background: 'a,m' }, fallback: { default: ['b,m'] } },
      RETRY: { attempts: 0 },
    },
  });
  t.is((await ask({ model: 'a,m' })).status, 503);
  t.is((await ask({ model: 'haiku' })).status, 503);
  t.is((await ask({ model: 'other' })).status, 200);
  t.is(upstreams[1]?.requests.length, 1);
});

test("a provider that can't be used or reached is passed over", async (t) => {
  // A port that a test had and closed may be another test's by now; no service has port 1.
  const { ask, baseUrl } = await rig(t, [good('from a')], {
    config: {
      Providers: [
        { name: 'unset', baseUrl: 'http://127.0.0.1:1', apiKey: '$NOT_SET', models: ['m'] },
        { name: 'gone', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', models: ['m'] },
        { name: 'nowhere', baseUrl: 'http://no-such-host.invalid', apiKey: 'k', models: ['m'] },
      ],
      transformers: ['anthropic'],
      Router: { default: 'unset,m', fallback: { default: ['gone,m', 'nowhere,m', 'unset,m'] } },
    },
  });
  const { status, headers, text } = await ask();
  t.is(status, 401, 'the first one decides');
  t.regex(text, /NOT_SET/);
  t.is(
    headers['x-junctor-attempts'],
    'unset,m=misconfigured; gone,m=unreachable; gone,m=unreachable; gone,m=unreachable; nowhere,m=unreachable',
  );
  const explained = await (await request(`${baseUrl}/api/explain?model=gone,m`)).body.text();
  t.regex(explained, /"fallbacks":\[\]/);
});

test('R16 five faults open the breaker, one probe closes it; 4xx and clients that leave do not count', async (t) => {
  let mended = false;
  let nowMs = 1_000_000;
  const { ask, upstreams, get, metric } = await rig(
    t,
    [(asked, count) => (mended ? good()(asked) : failing(count % 2 ? 500 : 400)(asked, count))],
    {
      config: { RETRY: { attempts: 0 }, BREAKER: { faults: 3, openMs: 400 }, Router: { default: 'a,m' } },
      healthNowMs: () => nowMs,
    },
  );
  const breaker = async () =>
    (await get<{ upstreams: { models: { breaker: string; faults: number; waitMs: number }[] }[] }>('/api/upstreams'))
      .upstreams[0]?.models[0];
  for (let count = 0; count < 5; count += 1) await ask();
  t.like(await breaker(), { breaker: 'open', faults: 3, waitMs: 400 });
  const refused = await ask();
  t.is(refused.status, 503);
  t.regex(refused.text, /a,m has failed several times in a row and is left alone; it is tried again in 1 s/);
  t.is(refused.headers['retry-after'], '1');
  t.is(upstreams[0]?.requests.length, 5, 'it is not asked');
  t.deepEqual(await metric('breaker_state'), ['junctor_breaker_state{provider="a",model="m"} 2']);
  mended = true;
  nowMs += 399;
  t.like(await breaker(), { breaker: 'open', waitMs: 1 });
  nowMs += 1;
  t.like(await breaker(), { breaker: 'half-open' });
  t.is((await ask()).status, 200);
  t.like(await breaker(), { breaker: 'closed', faults: 0, waitMs: 0 });
});

test('R16 while open it goes to the fallback at once', async (t) => {
  const { ask, upstreams } = await rig(t, [failing(500), good()], {
    config: { RETRY: { attempts: 0 }, BREAKER: { faults: 1 } },
  });
  t.is((await ask()).headers['x-junctor-attempts'], 'a,m=500');
  t.is((await ask()).headers['x-junctor-attempts'], 'a,m=breaker_open');
  t.is(upstreams[0]?.requests.length, 1);
  t.is(upstreams[1]?.requests.length, 2);
});

test('R16 a probe that streams lets others through from its first word on', async (t) => {
  let nowMs = 1_000_000;
  const { ask, baseUrl } = await rig(t, [inTurn(failing(500), begun, good())], {
    config: { RETRY: { attempts: 0 }, BREAKER: { faults: 1, openMs: 200 }, Router: { default: 'a,m' } },
    healthNowMs: () => nowMs,
  });
  await ask();
  nowMs += 200;
  const probe = await request(`${baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'a,m', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'x' }] }),
  });
  probe.body.on('error', () => undefined);
  for await (const _ of probe.body) break;
  t.is((await ask()).status, 200);
});

test('P6 a key that is refused or limited gives way to the next one, and rests', async (t) => {
  const used: string[] = [];
  const { ask, get, metric, upstreams } = await rig(
    t,
    [
      (asked, count) => {
        const key = String(asked.headers['x-api-key']);
        used.push(key);
        if (key === 'key-bad') return failing(401)(asked, count);
        return key === 'key-limited' ? failing(429)(asked, count) : good()(asked);
      },
    ],
    { providers: [{ apiKey: ['key-bad', 'key-limited', 'key-one', 'key-two'] }] },
  );
  const first = await ask();
  t.is(first.status, 200);
  t.is(first.headers['x-junctor-attempts'], 'a,m=401; a,m=429');
  for (let count = 0; count < 4; count += 1) t.is((await ask()).headers['x-junctor-attempts'], undefined);
  t.deepEqual(used.slice(0, 3), ['key-bad', 'key-limited', 'key-one']);
  t.deepEqual(new Set(used.slice(3)), new Set(['key-one', 'key-two']), 'the healthy ones take turns');
  const { upstreams: states } = await get<{
    upstreams: {
      keys: { number: number; rest: { why: string } | null }[];
      models: { resting: { number: number; why: string }[] }[];
    }[];
  }>('/api/upstreams');
  t.deepEqual(
    states[0]?.keys.map(({ rest }) => rest?.why),
    ['refused', undefined, undefined, undefined],
  );
  t.deepEqual(
    states[0]?.models[0]?.resting.map(({ number, why }) => `${number} ${why}`),
    ['1 refused', '2 limited'],
  );
  t.deepEqual(await metric('keys_resting'), ['junctor_keys_resting{provider="a"} 2']);
  t.false(JSON.stringify(states).includes('key-'), 'no key shows');
  t.is(upstreams[0]?.requests.length, 7);
});

test('P6 a fault of the request leaves all keys alone', async (t) => {
  for (const status of [400, 404, 413, 422]) {
    const { ask, get, upstreams } = await rig(t, [failing(status)], { providers: [{ apiKey: ['k1', 'k2'] }] });
    await ask();
    t.is(upstreams[0]?.requests.length, 1);
    t.notRegex(JSON.stringify(await get('/api/upstreams')), /limited|refused":\{|forbidden/);
  }
});

test("a firewall's page with a 4xx is an unreachable upstream: its fallback answers, and no key cools down", async (t) => {
  const page = '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>';
  for (const status of [400, 401, 403, 404]) {
    const blocked: Script = () => ({ status, headers: { 'content-type': 'text/html; charset=UTF-8' }, pieces: [page] });
    const { ask, get, upstreams } = await rig(t, [blocked, good('from b')], { providers: [{ apiKey: ['k1', 'k2'] }] });
    for (const stream of [false, true]) {
      const { text, headers } = await ask({ stream });
      t.regex(text, /from b/);
      t.is(headers['x-junctor-attempts'], 'a,m=unreachable');
    }
    t.is(upstreams[0]?.requests.length, 2);
    t.notRegex(JSON.stringify(await get('/api/upstreams')), /limited|refused":\{|forbidden/);

    const alone = await rig(t, [blocked]);
    const refused = await alone.ask();
    t.is(refused.status, 502);
    t.regex(refused.text, /web page titled \\"Attention Required! \| Cloudflare\\" answered in its place/);
  }
});

test('a conversation stays with the key that served it', async (t) => {
  const used: string[] = [];
  const { ask } = await rig(
    t,
    [
      (asked) => {
        used.push(String(asked.headers['x-api-key']));
        return good()(asked);
      },
    ],
    { providers: [{ apiKey: ['k1', 'k2', 'k3'] }] },
  );
  const turn = (text: string, more: readonly object[] = []) =>
    ask({ messages: [{ role: 'user', content: text }, ...more] });
  const more = [
    { role: 'assistant', content: 'yes?' },
    { role: 'user', content: 'go on' },
  ];
  for (const text of ['one', 'two', 'three']) await turn(text);
  for (const text of ['three', 'one', 'two', 'two']) await turn(text, more);
  t.deepEqual(used, ['k1', 'k2', 'k3', 'k3', 'k1', 'k2', 'k2']);
});

test('R8 P3 a client that leaves during a wait: no further call, and nothing counts', async (t) => {
  // Long enough for a busy machine to leave within it.
  const { baseUrl, upstreams, get } = await rig(t, [failing(503, { 'retry-after': '6' }), good()], {
    config: { Router: { default: 'a,m' }, RETRY: { waitMs: 10_000 } },
  });
  const leaving = new AbortController();
  const gone = request(`${baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
    signal: leaving.signal,
  });
  const idle = async () =>
    (await get<{ upstreams: { live: number; retrying: number }[] }>('/api/upstreams')).upstreams[0];
  await until(async () => (await idle())?.retrying === 1);
  leaving.abort();
  await t.throwsAsync(gone, { any: true });
  await until(async () => (await idle())?.live === 0);
  t.like(await idle(), { live: 0, retrying: 0 });
  await wait(6_200);
  t.is(upstreams[0]?.requests.length, 1);
});

test('R8 R16 clients that leave before the answer open no breaker', async (t) => {
  const { baseUrl, upstreams, get } = await rig(t, [() => 'never'], { config: { BREAKER: { faults: 1 } } });
  for (let count = 1; count <= 3; count += 1) {
    const leaving = new AbortController();
    const gone = request(`${baseUrl}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'a,m', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
      signal: leaving.signal,
    });
    await until(() => upstreams[0]?.requests.length === count);
    leaving.abort();
    await t.throwsAsync(gone, { any: true });
    await upstreams[0]?.requests.at(-1)?.closed;
  }
  t.regex(JSON.stringify(await get('/api/upstreams')), /"breaker":"closed","faults":0/);
});

/** A rig whose first upstream has one connection, which a request keeps until the end of the test. */
const withoutConnections = async (t: ExecutionContext, queueMs: number) => {
  const limited = await rig(t, [() => 'never', good()], {
    config: { LIMITS: { connectionsPerProvider: 1, queuePerProvider: 1 }, TIMEOUTS: { queueMs } },
  });
  const leaving = new AbortController();
  const askAndLeave = () =>
    request(`${limited.baseUrl}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'a,m', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
      signal: leaving.signal,
    }).catch(() => undefined);
  void askAndLeave();
  await until(() => limited.upstreams[0]?.requests.length === 1);
  t.teardown(() => leaving.abort());
  return { ...limited, askAndLeave };
};

test('the queue for connections has an end: 503 with retry-after, or the fallback', async (t) => {
  const { ask, askAndLeave, upstreams, metric } = await withoutConnections(t, 600_000);
  void askAndLeave();
  await until(async () => (await metric('upstream_queue_length')).some((line) => line.endsWith('{provider="a"} 1')));
  const full = await ask({ model: 'a,m' });
  t.is(full.status, 503);
  t.regex(full.text, /All connections to the upstream 127\.0\.0\.1:\d+ are in use, and 1 calls are already waiting/);
  t.is(full.headers['retry-after'], '1');
  const elsewhere = await ask();
  t.is(elsewhere.status, 200);
  t.is(elsewhere.headers['x-junctor-attempts'], 'a,m=queue_full');
  t.deepEqual(await metric('upstream_queue_length'), [
    'junctor_upstream_queue_length{provider="a"} 1',
    'junctor_upstream_queue_length{provider="b"} 0',
  ]);
  t.is((await metric('upstream_queue_refusals_total'))[0], 'junctor_upstream_queue_refusals_total{provider="a"} 2');
  t.is(upstreams[0]?.requests.length, 1);
});

test('a request waits for a connection for so long: then 503', async (t) => {
  const { ask, upstreams, metric } = await withoutConnections(t, 500);
  const from = performance.now();
  const late = await ask({ model: 'a,m' });
  t.is(late.status, 503);
  t.regex(late.text, /none became free within 0\.5 s/);
  t.true(performance.now() - from >= 490);
  t.is((await metric('upstream_queue_refusals_total'))[0], 'junctor_upstream_queue_refusals_total{provider="a"} 1');
  t.is(upstreams[0]?.requests.length, 1);
});

test('P6 a destination whose keys all cool down is skipped, unless it is the last', async (t) => {
  const { ask, upstreams } = await rig(t, [failing(429), good()]);
  t.is((await ask()).headers['x-junctor-attempts'], 'a,m=429');
  t.is((await ask()).headers['x-junctor-attempts'], 'a,m=keys_resting');
  t.is(upstreams[0]?.requests.length, 1);
  t.is((await ask({ model: 'a,m' })).status, 429);
  t.is(upstreams[0]?.requests.length, 4, 'asked, since the upstream knows best');
});

test('C7 one bad answer does not repeat itself', async (t) => {
  const { ask, upstreams } = await rig(t, [
    inTurn(
      () => ({ headers: { 'content-type': 'application/json' }, pieces: ['{"id": '] }),
      () => ({ headers: { 'content-type': 'text/html' }, pieces: ['<html>'] }),
      failing(500, { 'x-should-retry': 'false' }),
      good(),
    ),
  ]);
  const answers = [];
  for (let count = 0; count < 4; count += 1) answers.push((await ask()).status);
  t.deepEqual(answers, [502, 502, 500, 200]);
  t.is(upstreams[0]?.requests.length, 4);
});

test('POST /api/explain shows who would be asked next; a preset may have a list of its own', async (t) => {
  const { get } = await rig(t, [good(), good(), good()], { formats: ['anthropic', 'openai', 'anthropic'] });
  const { fallbacks } = await get<{ fallbacks: unknown }>('/api/explain?model=any');
  t.deepEqual(fallbacks, [
    { provider: 'b', model: 'm', format: 'openai', fault: null },
    { provider: 'c', model: 'm', format: 'anthropic', fault: null },
  ]);
});
