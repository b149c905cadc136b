import test from 'ava';
import { commandRig } from '../../../support/processes/command.ts';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, clientRig, keyOf, sdkAsks } from './rig.ts';

const used = (prompt_tokens: number, completion_tokens: number) => () =>
  jsonAnswer({ ...chatReply('Hello'), usage: { prompt_tokens, completion_tokens } });

/** A stream that breaks before the provider has counted anything. */
const broken = {
  headers: { 'content-type': 'text/event-stream' },
  pieces: [...chatStream(['word '.repeat(4_000)])].slice(0, 2),
  finish: 'reset',
} as const;

for (const protocol of ['messages', 'chat', 'responses'] as const) {
  const ask = sdkAsks[protocol];

  test(`${protocol}: beyond the budget, requests are refused until the period begins anew`, async (t) => {
    const clock = { nowMs: Date.parse('2026-01-31T22:00:00Z') };
    const { gateway, upstream, admin } = await clientRig(
      t,
      [client('a', { budget: { tokens: 1000, per: 'day' } }), client('b', { budget: { tokens: 5000, per: 'month' } })],
      { healthNowMs: () => clock.nowMs, script: used(500, 100) },
    );
    const { baseUrl } = gateway;
    t.is((await ask(baseUrl, keyOf('a'), 'any')).status, 200);
    t.is((await ask(baseUrl, keyOf('a'), 'any')).status, 200, 'an answer may exceed it');
    const refused = await ask(baseUrl, keyOf('a'), 'any');
    t.is(refused.status, 429);
    t.is(refused.type, 'RateLimitError');
    t.is(refused.code, 'budget_exceeded');
    t.is(refused.headers.get('retry-after'), '7200');
    t.is(refused.headers.get('x-should-retry'), 'false');
    t.regex(refused.error ?? '', /has used its 1000 tokens per day; they begin anew at 2026-02-01T00:00Z/);
    t.is(upstream.requests.length, 2);
    t.is((await ask(baseUrl, keyOf('b'), 'any')).status, 200);
    const { clients } = JSON.parse(await (await admin('/api/clients')).text());
    t.deepEqual(
      clients.map(({ budget }: { readonly budget: unknown }) => budget),
      [
        { tokens: 1000, per: 'day', remaining: 0, isUsedUp: true, renewsAt: '2026-02-01T00:00:00.000Z' },
        { tokens: 5000, per: 'month', remaining: 4400, isUsedUp: false, renewsAt: '2026-02-01T00:00:00.000Z' },
      ],
    );
    clock.nowMs += 2 * 3_600_000;
    t.is((await ask(baseUrl, keyOf('a'), 'any')).status, 200);
  });
}

test('a budget in USD: at the known prices, broken answers by their size, and what has no price is said and not counted', async (t) => {
  const clock = { nowMs: Date.parse('2026-01-31T22:00:00Z') };
  let breaks = false;
  const { gateway, upstream, admin } = await clientRig(t, [client('a', { budget: { usd: 1, per: 'day' } })], {
    healthNowMs: () => clock.nowMs,
    script: () => (breaks ? broken : used(500, 100)()),
    models: [{ name: 'small', price: { input: 1_000, output: 1_000 } }, 'large'],
  });
  const { baseUrl } = gateway;
  const shown = async () => JSON.parse(await (await admin('/api/clients')).text()).clients[0];
  t.is((await sdkAsks.chat(baseUrl, keyOf('a'), 'p,large')).status, 200);
  t.like(await shown(), {
    unpricedModels: ['p,large'],
    usage: { today: { requests: 1, cost: 0, unpriced: 1 } },
    budget: { usd: 1, remainingUsd: 1, isUsedUp: false },
  });
  t.is((await sdkAsks.chat(baseUrl, keyOf('a'), 'p,small')).status, 200);
  t.like(await shown(), { usage: { today: { cost: 600_000_000, unpriced: 1 } }, budget: { remainingUsd: 0.4 } });
  breaks = true;
  const asked = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'p,small', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.regex(await asked.text(), /"error"/);
  await until(async () => (await shown()).budget.isUsedUp);
  const refused = await sdkAsks.chat(baseUrl, keyOf('a'), 'p,small');
  t.like(refused, { status: 429, code: 'budget_exceeded' });
  t.is(refused.headers.get('retry-after'), '7200');
  t.regex(refused.error ?? '', /has used its 1 USD per day; they begin anew at 2026-02-01T00:00Z/);
  t.is(upstream.requests.length, 3);
  clock.nowMs += 2 * 3_600_000;
  breaks = false;
  t.is((await sdkAsks.chat(baseUrl, keyOf('a'), 'p,small')).status, 200);
  t.regex(gateway.reports.join('\n'), /CLIENTS\[0\]\.budget\.usd does not count p,large: no price is known/);
});

test('prompts in progress count ahead of a budget', async (t) => {
  const { gateway, upstream } = await clientRig(t, [client('a', { budget: { tokens: 500, per: 'month' } })], {
    script: () => 'never',
  });
  const messages = [{ role: 'user', content: 'many words '.repeat(400) }];
  const leaving = new AbortController();
  const asked = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await until(() => upstream.requests.length === 1);
  t.is((await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any')).code, 'budget_exceeded');
  const count = await fetch(`${gateway.baseUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.is(count.status, 200, 'counting uses no budget');
  leaving.abort();
  await asked;
});

test('kill -9: what the history has was used after the next start, too, and nothing twice', async (t) => {
  const { begin } = await commandRig(t, {
    APIKEY: adminKey,
    PORT: 0,
    LOG: false,
    CLIENTS: [client('a', { budget: { tokens: 60, per: 'month' } })],
    Providers: [{ name: 'demo', baseUrl: 'http://demo.invalid/v1', apiKey: '', models: ['echo'] }],
  });
  let before = { requests: 0, input: 0, output: 0, cost: 0, unpriced: 0 };
  const start = async () => {
    const running = begin(['start']);
    await running.says('listens on');
    const [, baseUrl = ''] = /(http:\S+)/.exec(running.out()) ?? [];
    const read = async (path: string) =>
      JSON.parse(await (await fetch(baseUrl + path, { headers: { 'x-api-key': adminKey } })).text());
    const usage = async (): Promise<typeof before> => (await read('/api/clients')).clients[0].usage.month;
    return { running, baseUrl, read, usage };
  };
  for (let round = 1; round <= 3; round += 1) {
    const { running, baseUrl, read, usage } = await start();
    t.deepEqual(await usage(), before, `round ${round}`);
    const { status } = await sdkAsks.chat(baseUrl, keyOf('a'), 'demo,echo');
    const isUsedUp = before.input + before.output >= 60;
    t.is(status, isUsedUp ? 429 : 200);
    await until(async () => (await read('/api/history')).requests.length >= round);
    const now = await usage();
    t.is(now.requests, before.requests + (isUsedUp ? 0 : 1));
    before = now;
    running.child.kill('SIGKILL');
    await running.ended;
  }
  const last = await start();
  t.deepEqual(await last.usage(), before);
  last.running.child.kill('SIGTERM');
  await last.running.ended;
});
