import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

test('a list of models that one process asks for is used by the other', async (t) => {
  t.timeout(300_000);
  let window = 5_000;
  const upstream = await startUpstream(() => jsonAnswer({ data: [{ id: 'm', context_length: window }] }));
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: '', models: ['m'] }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const [one, two] = await connectToWorkers(t, addressIn(started.out), 2);
  const windowOf = async ({ fetch }: WorkerConnection): Promise<number | undefined> =>
    JSON.parse((await fetch('/v1/models/p,m')).text).context_length;
  t.is(await windowOf(two), undefined);
  for (const [asking, other] of [
    [one, two],
    [two, one],
  ] as const) {
    window += 1_000;
    t.is((await asking.fetch('/api/models/refresh', { method: 'POST' })).status, 200);
    t.is(await windowOf(asking), window);
    await until(async () => (await windowOf(other)) === window);
  }
  t.is(upstream.requests.length, 2);
});
