import test from 'ava';
import { isMissing, startRedis } from '../../support/processes/redis.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { client } from '../features/clients/rig.ts';
import { inProcessFleet } from './rig.ts';

test('budgets in tokens and USD hold over machines that come later, and after the store has lost everything', async (t) => {
  if (isMissing(t, 'redis-server')) return;
  t.timeout(240_000);
  const upstream = await startUpstream(() =>
    jsonAnswer({ ...chatReply('Hello'), usage: { prompt_tokens: 300, completion_tokens: 100 } }),
  );
  t.teardown(upstream.close);
  const redis = await startRedis(t);
  const join = () =>
    inProcessFleet(t, { store: redis.url }, undefined, {
      CLIENTS: [client('a', { budget: { tokens: 100_000, usd: 0.75, per: 'month' } })],
      Providers: [
        {
          name: 'p',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'k',
          models: [{ name: 'm', price: { input: 1_000, output: 1_000 } }],
        },
      ],
    });
  const [one, two] = [await join(), await join()];
  const budgetAt = async ({ fetchJson }: typeof one) => (await fetchJson('/api/clients')).clients[0].budget;
  const untilLeft = async (at: typeof one, remainingUsd: number): Promise<void> =>
    until(async () => (await budgetAt(at)).remainingUsd === remainingUsd);
  t.is(await one.ask(), 200);
  await untilLeft(two, 0.35);
  t.is((await budgetAt(two)).remaining, 99_600);
  t.is(await two.ask(), 200);
  await untilLeft(one, 0);
  t.is(await one.ask(), 429);
  const late = await join();
  t.is(await late.ask(), 429, 'known before the first request is let through');

  await redis.kill();
  await until(async () => !(await late.fetchJson('/api/fleet')).store.up);
  await redis.start();
  for (const member of [one, two, late]) await untilLeft(member, 0);
  await until(async () => (await one.fetchJson('/api/fleet')).store.up);
  const latest = await join();
  await untilLeft(latest, 0);
  t.is((await budgetAt(latest)).remaining, 99_200, 'what each had counted is told again, once');
  t.is(upstream.requests.length, 2);
});
