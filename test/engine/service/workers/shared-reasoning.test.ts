import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { signingUpstream, ToolLoop } from '../../../support/upstreams/tool-loop.ts';
import { startUpstream } from '../../../support/upstreams/upstream.ts';

const rounds = process.env.RELIABILITY === 'full' ? 41 : 9;

test('a tool loop that alternates between processes gets each signature back', async (t) => {
  t.timeout(300_000);
  const { script, seen } = signingUpstream();
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'g', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'gemini', provider: 'g' }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const workers = await connectToWorkers(t, addressIn(started.out), 2);
  // Each round waits for 50 ms at most, which a busy machine may miss: then all of it is tried again.
  let tries = 0;
  await until(async () => {
    Object.assign(seen, { signed: 0, unsigned: 0 });
    const loop = new ToolLoop(`Look it all up, try ${tries}.`);
    tries += 1;
    for (let round = 0; round < rounds; round += 1) await loop.round(workers[round % 2 === 0 ? 0 : 1]);
    return seen.unsigned === 0;
  });
  t.deepEqual(seen, { signed: rounds - 1, unsigned: 0 });
  t.log(`tries: ${tries}`);
});

test('which provider issued a signature is known to all processes', async (t) => {
  t.timeout(300_000);
  const signature = `signature-of-one-${'x'.repeat(100)}`;
  const upstream = await startUpstream(({ url }) => ({
    headers: { 'content-type': 'application/json' },
    pieces: [
      JSON.stringify({
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: url.startsWith('/one') ? signature : `another-${signature}` },
          { type: 'text', text: 'Hello.' },
        ],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    ],
  }));
  t.teardown(upstream.close);
  const provider = (name: string) => ({ name, baseUrl: `${upstream.url}/${name}`, apiKey: 'k', models: ['m'] });
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [provider('one'), provider('two')],
    transformers: [
      { name: 'anthropic', provider: 'one' },
      { name: 'anthropic', provider: 'two' },
    ],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const [one, two] = await connectToWorkers(t, addressIn(started.out), 2);
  const ask = { role: 'user', content: 'hi' };
  const more = { max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } };
  const first = await one.fetch('/v1/messages', { method: 'POST', body: { ...more, model: 'one,m', messages: [ask] } });
  t.is(first.status, 200, first.text);
  const { content } = JSON.parse(first.text);
  const messages = [ask, { role: 'assistant', content }, ask];
  const again = (model: string) => two.fetch('/v1/messages', { method: 'POST', body: { ...more, model, messages } });
  // The answer of the other processes is awaited for 25 ms at most, which a busy machine may miss: then it is asked again.
  await until(async () => {
    t.is((await again('two,m')).status, 200);
    return upstream.requests.at(-1)?.text.includes(signature) === false;
  });
  t.is((await again('one,m')).status, 200);
  t.true(upstream.requests.at(-1)?.text.includes(signature), 'the issuing provider gets it');
});

const overFetch = (baseUrl: string): Pick<WorkerConnection, 'fetch'> => ({
  async fetch(path, { method = 'GET', body } = {}) {
    const answer = await fetch(`${baseUrl}${path}`, { method, body: JSON.stringify(body) });
    return { status: answer.status, text: await answer.text(), headers: {} };
  },
});

for (const workers of [1, 2]) {
  test(`with a key, signatures survive a restart of ${workers} processes, and stand sealed on the disk`, async (t) => {
    t.timeout(300_000);
    const { script, seen } = signingUpstream();
    const upstream = await startUpstream(script);
    t.teardown(upstream.close);
    const rig = await commandRig(t, {
      WORKERS: workers,
      Providers: [{ name: 'g', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'gemini', provider: 'g' }],
    });
    const key = { JUNCTOR_STATE_KEY: randomBytes(32).toString('hex') };
    const file = join(rig.home, 'reasoning.sealed');
    const loop = new ToolLoop();
    const run = async (env: Readonly<Record<string, string>>) => {
      const started = await rig.ask(['start', '--daemon'], { env });
      t.is(started.code, 0, started.err);
      const baseUrl = addressIn(started.out);
      // All to one process, so that it need not ask the other for what it has just heard itself.
      const reach = workers === 1 ? overFetch(baseUrl) : (await connectToWorkers(t, baseUrl, workers))[0];
      for (let round = 0; round < 3; round += 1) await loop.round(reach);
      t.is((await rig.ask(['stop'])).code, 0);
    };
    await run({});
    t.deepEqual(seen, { signed: 2, unsigned: 0 });
    t.false(existsSync(file), 'without a key nothing is written');
    await run(key);
    t.deepEqual(seen, { signed: 4, unsigned: 1 }, 'so the first call of this start was not known');
    t.false((await readFile(file, 'utf8')).includes('signature-of-call'));
    // What is on the disk is awaited for 25 ms at most, which a busy machine may miss: then it is started again.
    await until(async () => {
      Object.assign(seen, { signed: 0, unsigned: 0 });
      await run(key);
      return seen.unsigned === 0;
    });
    t.deepEqual(seen, { signed: 3, unsigned: 0 });
  });
}

test('a key of another length is refused at the start', async (t) => {
  const rig = await commandRig(t, { Providers: [] });
  const { code, err } = await rig.run(['start'], { env: { JUNCTOR_STATE_KEY: 'short' } });
  t.is(code, 1);
  t.regex(err, /JUNCTOR_STATE_KEY must be 32 bytes/);
  t.is(err.trim().split('\n').length, 1, err);
});
