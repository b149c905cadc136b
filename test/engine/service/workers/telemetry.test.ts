import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { startCollector } from '../../features/telemetry/collector.ts';

test('each of several processes exports its own, as an instance of one service', async (t) => {
  t.timeout(300_000);
  const upstream = await startUpstream(() => jsonAnswer(chatReply('fine')));
  t.teardown(upstream.close);
  const collector = await startCollector(t);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
    TELEMETRY: { endpoint: collector.url, service: 'both' },
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const workers = await connectToWorkers(t, addressIn(started.out), 2);
  const body = { model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  for (const { fetch } of workers) t.is((await fetch('/v1/messages', { method: 'POST', body })).status, 200);
  const stopped = await rig.ask(['stop']);
  t.is(stopped.code, 0, stopped.err);
  await until(() => collector.spans().length === 4);
  const resources = collector.resources();
  t.is(new Set(resources.map((resource) => resource['service.instance.id'])).size, 2);
  t.deepEqual(new Set(resources.map((resource) => resource['service.name'])), new Set(['both']));
});
