import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { hasBrowser, startBrowser } from '../support/processes/browser.ts';
import { addressIn, commandRig } from '../support/processes/command.ts';
import { until } from '../support/until.ts';
import { chatStream } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** What becomes of every tenth request; the others are answered. */
const kinds = ['retried', 'cut', 'refused'];
const kindOf = (n: number): string => kinds[n % 10] ?? 'answered';

/** What the generator has seen of a request. */
interface Outcome {
  readonly id: string;
  readonly hasFailed: boolean;
}

/** How many requests to send, and how many per second; `RELIABILITY=full` adds a rate that keeps two cores busy. */
const loads = [
  { count: 20, perSecond: 10 },
  { count: 400, perSecond: 200 },
  ...(process.env.RELIABILITY === 'full' ? [{ count: 10_000, perSecond: 2_000 }] : []),
];
const all = loads.reduce((sum, { count }) => sum + count, 0);

/** A machine that can't keep up is asked for fewer at a time than one client may have connections. */
const mostAtATime = 500;

/** Sends so many requests, each on a connection of its own, at this rate or as fast as the machine can. */
const load = async (baseUrl: string, prefix: string, count: number, perSecond: number): Promise<readonly Outcome[]> => {
  const sent: Promise<Outcome>[] = [];
  const startedMs = performance.now();
  for (let n = 0; n < count; n += 1) {
    const aheadMs = startedMs + (n * 1_000) / perSecond - performance.now();
    if (aheadMs > 0) await wait(aheadMs);
    await sent.at(-mostAtATime);
    sent.push(send(baseUrl, `${prefix}-${n}-${kindOf(n)}`));
  }
  return Promise.all(sent);
};

const send = (baseUrl: string, id: string): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const asked = request(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'x-request-id': id },
    });
    asked.once('error', reject);
    asked.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (data) => {
        text += data;
      });
      answer.once('error', reject);
      answer.once('end', () => resolve({ id, hasFailed: answer.statusCode !== 200 || !text.includes('[DONE]') }));
    });
    asked.end(JSON.stringify({ model: 'p,m', stream: true, user: id, messages: [{ role: 'user', content: 'hi' }] }));
  });

/** The values of a metric's lines that have this label, added up. */
const sumIn = (text: string, name: string, label = ''): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`junctor_${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test.serial('two processes at 10 and 200 requests a second: all figures are those of who sent them', async (t) => {
  if (loads.length > 2) t.timeout(300_000);
  const calls = new Map<string, number>();
  const upstream = await startUpstream(({ body }) => {
    const id = String(Object(body).user);
    const call = (calls.get(id) ?? 0) + 1;
    calls.set(id, call);
    if (id.endsWith('refused')) return jsonAnswer({ error: { message: 'no' } }, 400);
    if (id.endsWith('retried') && call === 1) return jsonAnswer({ error: { message: 'busy' } }, 503);
    return id.endsWith('cut') ? sseAnswer([...chatStream(['Hi'])].slice(0, 2), 'close') : sseAnswer(chatStream(['Hi']));
  });
  t.teardown(upstream.close);
  const { begin } = await commandRig(t, {
    WORKERS: 2,
    LOG: false,
    RETRY: { baseMs: 0, budget: 1 },
    BREAKER: { faults: 1_000 },
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: '', models: ['m'] }],
  });
  const service = begin(['start']);
  await service.says('listens on');
  const baseUrl = addressIn(service.out());
  const read = async (path: string): Promise<string> => (await fetch(baseUrl + path)).text();
  const sent: Outcome[] = [];
  for (const { count, perSecond } of loads) {
    const startedMs = performance.now();
    sent.push(...(await load(baseUrl, `at-${perSecond}`, count, perSecond)));
    t.log(`${perSecond} a second: ${count} requests in ${Math.round(performance.now() - startedMs)} ms`);
  }
  const errors = sent.filter(({ hasFailed }) => hasFailed).length;
  const retries = sum([...calls.values()].map((count) => count - 1));
  const expected = { requests: all, errors, retries };
  t.true(errors >= all / 5 && retries >= all / 10, JSON.stringify(expected));

  // A request counts when its connection has ended, which the client may see first.
  await until(async () => JSON.parse(await read('/api/activity')).inFlightCount === 0);
  t.like(JSON.parse(await read('/api/usage?by=all')).total, expected);
  const ids = new Set(sent.map(({ id }) => id));
  const listed: readonly Outcome[] = JSON.parse(await read('/api/requests?limit=1000')).requests;
  t.is(new Set(listed.map(({ id }) => id)).size, Math.min(all, 1_000));
  t.true(listed.every(({ id }) => ids.has(id)));
  const metrics = await read('/metrics');
  t.is(sumIn(metrics, 'requests_total'), expected.requests);
  t.is(sumIn(metrics, 'request_duration_seconds_count'), expected.requests);
  t.is(sumIn(metrics, 'retries_total'), expected.retries);
  const activity = JSON.parse(await read('/api/activity?minutes=60'));
  // Lines are drawn from the last thousand requests of each process.
  if (all <= 1_000) t.like(activity.lines, [{ requests: all, errors }]);
  const steps: readonly Readonly<Record<'began' | 'ended' | 'failed', number>>[] = activity.traffic.steps;
  t.deepEqual(
    [
      sum(steps.map(({ began }) => began)),
      sum(steps.map(({ ended }) => ended)),
      sum(steps.map(({ failed }) => failed)),
    ],
    [all, all, errors],
  );
  if (hasBrowser) await readPages(t, baseUrl, expected);
});

const readPages = async (
  t: ExecutionContext,
  baseUrl: string,
  { requests, errors, retries }: Readonly<Record<'requests' | 'errors' | 'retries', number>>,
): Promise<void> => {
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${baseUrl}/ui#/usage`);
  const row = page.getByRole('region', { name: 'Usage by model' }).getByRole('row', { name: /^p,m / });
  await row.waitFor();
  const cells = await row.getByRole('cell').allInnerTexts();
  t.deepEqual(
    [cells[4], cells[5]],
    [requests, errors].map((count) => count.toLocaleString('en-US')),
  );
  await page.getByRole('button', { name: 'All figures' }).click();
  await row
    .getByRole('cell', { name: retries.toLocaleString('en-US'), exact: true })
    .first()
    .waitFor();
  await page.goto(`${baseUrl}/ui#/`);
  await page.getByRole('button', { name: `Failed ${errors.toLocaleString('en-US')}` }).waitFor();
  t.deepEqual(complaints, []);
};
