import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { connectToWorkers, type WorkerConnection } from '../../../support/processes/workers.ts';
import { until } from '../../../support/until.ts';
import { chatStream } from '../../../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const body = { model: 'p,m', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };

/** The values of a metric's lines, added up. */
const totalOf = (text: string, name: string): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`junctor_${name}{`) || line.startsWith(`junctor_${name} `))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

test('the metrics of several processes are one, also after one is killed and after a restart', async (t) => {
  t.timeout(300_000);
  let mayEnd = false;
  const held = function* () {
    const [first = '', ...others] = chatStream(['word '], 20);
    yield first;
    while (!mayEnd) yield 20;
    yield* others;
  };
  const upstream = await startUpstream(({ text }) =>
    sseAnswer(text.includes('hold') ? held() : chatStream(['word '], 20)),
  );
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    WORKERS: 2,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const baseUrl = addressIn(started.out);
  const ask = async ({ fetch }: WorkerConnection, times: number) => {
    for (let count = 0; count < times; count += 1) {
      t.is((await fetch('/v1/messages', { method: 'POST', body })).status, 200);
    }
  };
  const scrape = async ({ fetch }: WorkerConnection) => {
    const { status, text } = await fetch('/metrics');
    t.is(status, 200, text);
    return text;
  };

  const [one, two] = await connectToWorkers(t, baseUrl, 2);
  await Promise.all([ask(one, 3), ask(two, 4)]);
  const texts = await Promise.all([scrape(one), scrape(two)]);
  for (const text of texts) {
    t.is(totalOf(text, 'requests_total'), 7);
    t.is(totalOf(text, 'request_duration_seconds_count'), 7);
    t.is(totalOf(text, 'streams_active'), 0);
    t.true(text.includes('# TYPE process_cpu_seconds_total counter'));
    const types = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    t.is(new Set(types).size, types.length, 'each name is told once');
  }

  // A stream that goes on at one process counts at the other.
  const streaming = fetch(`${baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ ...body, messages: [{ role: 'user', content: 'hold' }] }),
  });
  await until(async () => totalOf(await scrape(one), 'streams_active') === 1);
  t.is(totalOf(await scrape(two), 'streams_active'), 1);
  mayEnd = true;
  await (await streaming).text();
  await until(async () => totalOf(await scrape(two), 'requests_total') === 8);

  // What a process has told stays when it is killed.
  await ask(one, 2);
  const before = await scrape(two);
  t.is(totalOf(before, 'requests_total'), 10);
  process.kill(one.pid, 'SIGKILL');
  const cpu = (text: string) => Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
  await until(async () => {
    const now = await scrape(two);
    t.is(totalOf(now, 'requests_total'), 10);
    t.true(cpu(now) >= cpu(before), 'its processor time stays too');
    const { workers } = JSON.parse((await rig.ask(['status', '--json'])).out);
    return workers.length === 2 && workers.every(({ pid }: { pid: number }) => pid !== one.pid);
  });
  const [third, fourth] = await connectToWorkers(t, baseUrl, 2);
  await Promise.all([ask(third, 1), ask(fourth, 1)]);
  t.is(totalOf(await scrape(third), 'requests_total'), 12);

  // And over a restart.
  t.is((await rig.ask(['restart'])).code, 0);
  const [fifth] = await connectToWorkers(t, baseUrl, 2);
  await ask(fifth, 1);
  t.is(totalOf(await scrape(fifth), 'requests_total'), 13);
});

test('the metrics of one process go on when a restart replaces it', async (t) => {
  t.timeout(300_000);
  const upstream = await startUpstream(() => sseAnswer(chatStream(['word '], 20)));
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: '', models: ['m'] }],
  });
  const started = await rig.ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const baseUrl = addressIn(started.out);
  const ask = async () => {
    const answer = await fetch(`${baseUrl}/v1/messages`, { method: 'POST', body: JSON.stringify(body) });
    t.is(answer.status, 200);
    await answer.text();
  };
  const requests = async () => totalOf(await (await fetch(`${baseUrl}/metrics`)).text(), 'requests_total');
  await ask();
  await ask();
  await until(async () => (await requests()) === 2);
  t.is((await rig.ask(['restart'])).code, 0);
  await ask();
  await until(async () => (await requests()) === 3);
  t.is((await rig.ask(['restart'])).code, 0);
  t.is(await requests(), 3);
});
