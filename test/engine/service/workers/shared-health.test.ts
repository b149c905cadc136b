import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const body = (model: string) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });

interface State {
  readonly provider: string;
  readonly keys: readonly { readonly number: number; readonly rest?: { readonly why: string } }[];
  readonly models: readonly { readonly breaker: string; readonly resting: readonly { readonly number: number }[] }[];
}

test('breakers and keys at rest of one process are known to the other within two ticks', async (t) => {
  t.timeout(300_000);
  let isDown = true;
  let answerProbe = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answerProbe = resolve;
  });
  t.teardown(answerProbe);
  const upstream = await startUpstream(async ({ url, headers }) => {
    if (url.startsWith('/keys')) {
      if (headers.authorization === 'Bearer one') return jsonAnswer({ error: { message: 'no' } }, 401);
      if (headers.authorization === 'Bearer two') {
        return { ...jsonAnswer({ error: { message: 'slow' } }, 429), headers: { 'retry-after': '600' } };
      }
    }
    if (isDown && url.startsWith('/down')) return jsonAnswer({ error: { message: 'down' } }, 500);
    if (url.startsWith('/down')) await mayAnswer;
    return jsonAnswer({
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok' } }],
    });
  });
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    RETRY: { attempts: 0 },
    BREAKER: { faults: 3, openMs: 10_000 },
    Providers: [
      { name: 'down', baseUrl: `${upstream.url}/down`, apiKey: 'k', models: ['m'] },
      { name: 'keys', baseUrl: `${upstream.url}/keys`, apiKey: ['one', 'two', 'three'], models: ['m'] },
    ],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const [one, two] = await connectToWorkers(t, addressIn(started.out), 2);
  const ask = ({ fetch }: WorkerConnection, model: string) =>
    fetch('/v1/messages', { method: 'POST', body: body(model) });
  const stateOf = async ({ fetch }: WorkerConnection, name: string): Promise<State | undefined> => {
    const { upstreams } = JSON.parse((await fetch('/api/upstreams')).text);
    return upstreams.find(({ provider }: State) => provider === name);
  };

  for (let count = 0; count < 3; count += 1) t.is((await ask(one, 'down,m')).status, 500);
  const asked = upstream.requests.length;
  const openedMs = Date.now();
  await until(async () => (await stateOf(two, 'down'))?.models[0]?.breaker === 'open');
  t.log(`known after ${Date.now() - openedMs} ms`);
  t.is((await ask(two, 'down,m')).status, 503);
  t.is(upstream.requests.length, asked, 'nothing more was sent');

  // When it is over, one of them probes, which closes it for both. The other's request isn't sent meanwhile.
  isDown = false;
  for (const worker of [one, two]) {
    await until(async () => (await stateOf(worker, 'down'))?.models[0]?.breaker === 'half-open');
  }
  const asking = [ask(one, 'down,m'), ask(two, 'down,m')];
  t.is((await Promise.race(asking)).status, 503);
  answerProbe();
  t.deepEqual((await Promise.all(asking)).map(({ status }) => status).toSorted(), [200, 503]);
  for (const worker of [one, two]) {
    await until(async () => (await stateOf(worker, 'down'))?.models[0]?.breaker === 'closed');
  }
  t.is(upstream.requests.length, asked + 1);

  // A refused key rests for all models, a limited one for this.
  for (let count = 0; count < 3; count += 1) await ask(one, 'keys,m');
  await until(async () => {
    const state = await stateOf(two, 'keys');
    const numbers = state?.models[0]?.resting.map(({ number }) => number);
    return state?.keys[0]?.rest?.why === 'refused' && numbers?.join() === '1,2';
  });
  const before = upstream.requests.length;
  t.is((await ask(two, 'keys,m')).status, 200);
  t.deepEqual(
    upstream.requests.slice(before).map(({ headers }) => headers.authorization),
    ['Bearer three'],
  );
  const { text } = await two.fetch('/metrics');
  t.true(text.includes('junctor_keys_resting{provider="keys"} 2'), 'a key that rests in both counts once');
});

test('what a refusal teaches one process is known to the other, which may forget it for both', async (t) => {
  t.timeout(300_000);
  const upstream = await startUpstream(({ body }) =>
    Object.hasOwn(Object(body), 'temperature')
      ? jsonAnswer({ error: { message: "Unsupported parameter: 'temperature'" } }, 400)
      : jsonAnswer(chatReply('ok')),
  );
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const [one, two] = await connectToWorkers(t, addressIn(started.out), 2);
  const teach = () => one.fetch('/v1/messages', { method: 'POST', body: { ...body('p,m'), temperature: 0.3 } });
  const taught = async ({ fetch }: WorkerConnection): Promise<number> =>
    JSON.parse((await fetch('/api/upstreams')).text).upstreams[0].taught.length;
  t.is((await teach()).status, 200);
  await until(async () => (await taught(two)) === 1);
  t.is((await two.fetch('/api/upstreams/taught?provider=p', { method: 'DELETE' })).status, 200);
  await until(async () => (await taught(one)) === 0);
  t.is((await teach()).status, 200);
  t.is(upstream.requests.length, 4, 'refused once more');
  await until(async () => (await taught(two)) === 1);
  t.regex((await rig.ask(['explain', '--model', 'any'])).out, /^taught +temperature: left out/m);
  t.is((await rig.ask(['stop'])).code, 0);
  const offline = await rig.ask(['explain', '--model', 'any']);
  t.regex(offline.err, /No service answers/);
  t.regex(offline.out, /^taught +temperature: left out/m);
});
