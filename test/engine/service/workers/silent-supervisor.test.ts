import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { signingUpstream, ToolLoop } from '../../../support/upstreams/tool-loop.ts';
import { startUpstream } from '../../../support/upstreams/upstream.ts';

test('processes whose supervisor does not answer go on by themselves, say so once, and take it up again', async (t) => {
  t.timeout(300_000);
  const { script, seen } = signingUpstream();
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    LOG: true,
    Providers: [{ name: 'g', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'gemini', provider: 'g' }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const [one, two] = await connectToWorkers(t, addressIn(started.out), 2);
  const { pid } = JSON.parse((await rig.ask(['status', '--json'])).out);
  t.teardown(() => process.kill(pid, 'SIGCONT'));
  const said = async (words: string): Promise<number> => {
    const text = await readFile(join(rig.home, 'app.log'), 'utf8').catch(() => '');
    return text.split(words).length - 1;
  };

  const loop = new ToolLoop();
  await loop.round(one);
  process.kill(pid, 'SIGSTOP');
  await until(async () => (await said('does not answer')) === 2);
  // Each knows its own calls; what the other knows can't be had, and is not waited for.
  await loop.round(one);
  await loop.round(one);
  t.deepEqual(seen, { signed: 2, unsigned: 0 });
  await loop.round(two);
  t.deepEqual(seen, { signed: 2, unsigned: 1 });
  t.is((await one.fetch('/metrics')).status, 503);
  t.is((await one.fetch('/api/activity')).status, 200);
  const { text, headers } = await one.fetch('/api/config');
  const change = { method: 'POST', headers: { 'if-match': headers.etag ?? '' }, body: text };
  const refused = await one.fetch('/api/config', change);
  t.is(refused.status, 503, refused.text);
  t.is(await said('does not answer'), 2, 'once each');

  // On a busy machine it may be late once more, so all that follows is waited for.
  process.kill(pid, 'SIGCONT');
  await until(async () => (await said('answers again')) >= 2);
  await until(async () => (await one.fetch('/metrics')).status === 200);
  await until(async () => (await one.fetch('/api/config', change)).status === 200);
  await until(async () => {
    await loop.round(one);
    await loop.round(two);
    return seen.signed > 4;
  });
});
