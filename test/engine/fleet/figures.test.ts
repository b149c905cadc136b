import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { Agent, request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { isMissing } from '../../support/processes/redis.ts';
import { until } from '../../support/until.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { signingUpstream, ToolLoop } from '../../support/upstreams/tool-loop.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { adminKey, client, keyOf } from '../features/clients/rig.ts';
import { fleetKey, fleetRig, storePassword, untilMet } from './rig.ts';

/** These take minutes: `RELIABILITY=full` runs them. Their figures are in `docs/contributing/guarantees.md`. */
const isFull = process.env.RELIABILITY === 'full';

/** The load: requests per second, and how many of a hundred go to each gateway. */
const perSecond = 20;
const shares = [70, 20, 10];
const limit = 600;
const tokens = { prompt_tokens: 3, completion_tokens: 4 };

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN;

/** The most of these times in any window of a minute. */
const mostPerMinute = (times: readonly number[], from: number, to: number): number => {
  const starts = Array.from({ length: Math.floor((to - from - 60_000) / 500) + 1 }, (_, n) => from + n * 500);
  return Math.max(...starts.map((start) => times.filter((ms) => ms >= start && ms < start + 60_000).length));
};

test('a limit over three gateways, without its store for two times 30 s, and over 20 cuts of its connections', async (t) => {
  if (!isFull || isMissing(t, 'redis-server')) return t.pass('RELIABILITY=full runs it');
  t.timeout(900_000);
  const canary = 'canary-of-the-prompt';
  const upstream = await startUpstream(() => jsonAnswer({ ...chatReply('Hello'), usage: tokens }));
  t.teardown(upstream.close);
  const budget = { tokens: 10_000_000, per: 'month' };
  const { redis, replicas } = await fleetRig(t, shares.length, {
    APIKEY: adminKey,
    LOG: false,
    CLIENTS: [client('a', { limits: { requestsPerMinute: limit }, budget }), client('b', { budget })],
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'canary-key-of-the-vendor', models: ['m'] }],
  });
  const admin = { 'x-api-key': adminKey };
  await untilMet(replicas, admin);

  const answered: { readonly atMs: number; readonly tookMs: number }[] = [];
  const odd: string[] = [];
  let sent = 0;
  const begun: Promise<void>[] = [];
  const send = async (name: string): Promise<void> => {
    const place = sent++ % 100;
    const at = place < 70 ? 0 : place < 90 ? 1 : 2;
    const startedMs = performance.now();
    const reply = await replicas[at]?.fetch('/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': keyOf(name) },
      body: { model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: `${canary} ${sent}` }] },
    });
    const endedMs = performance.now();
    if (reply?.status === 200) answered.push({ atMs: endedMs, tookMs: endedMs - startedMs });
    else if (reply?.status !== 429) odd.push(`${reply?.status} ${reply?.text}`);
  };
  /** Sends for so long, at a steady rate. */
  const load = async (name: string, forMs: number): Promise<readonly [from: number, to: number]> => {
    const from = performance.now();
    for (let count = 0; count < (forMs / 1_000) * perSecond; count += 1) {
      const dueMs = from + (count * 1_000) / perSecond;
      if (dueMs > performance.now()) await wait(dueMs - performance.now());
      begun.push(send(name).catch((error: unknown) => void odd.push(String(error))));
    }
    return [from, performance.now()];
  };
  const within = ([from, to]: readonly [number, number]): readonly number[] =>
    answered.filter(({ atMs }) => atMs >= from && atMs < to).map(({ tookMs }) => tookMs);
  const isUp = (up: boolean) =>
    until(async () => {
      const states = await Promise.all(replicas.map(({ fetch }) => fetch('/api/fleet', { headers: admin })));
      return states.every(({ text }) => JSON.parse(text).store.up === up);
    });

  const calm = await load('a', 130_000);
  await redis.kill();
  const killed = await load('a', 30_000);
  await redis.start();
  await isUp(true);
  const between = await load('a', 60_000);
  redis.signal('SIGSTOP');
  const frozen = await load('a', 30_000);
  redis.signal('SIGCONT');
  await isUp(true);
  const last = await load('a', 60_000);
  await Promise.all(begun);
  const times = answered.map(({ atMs }) => atMs);
  const used = times.filter((ms) => ms < calm[0] + 120_000).length / (2 * limit);
  const most = mostPerMinute(times, calm[0], last[1]);
  t.log(
    `${(used * 100).toFixed(1)} % of the limit used in two minutes with the store; at most ${most} of ${limit} in any minute`,
  );
  for (const [name, phase] of Object.entries({ calm, killed, between, frozen, last })) {
    const took = within(phase);
    t.log(
      `${name}: ${took.length} answered, p50 ${percentile(took, 0.5).toFixed(1)} ms, p99 ${percentile(took, 0.99).toFixed(1)} ms`,
    );
  }
  t.deepEqual(odd, []);
  t.true(most <= limit * 1.01 && used >= 0.95);

  // Usage is exact, however often connections are cut.
  const before = answered.length;
  for (let cut = 0; cut < 20; cut += 1) {
    await Promise.all([load('b', 1_000), wait(500).then(() => redis.run('CLIENT', 'KILL', 'TYPE', 'normal'))]);
  }
  await Promise.all(begun);
  const spent = (answered.length - before) * (tokens.prompt_tokens + tokens.completion_tokens);
  const remainingAt = async (index: number): Promise<number> => {
    const { clients } = JSON.parse((await replicas[index]?.fetch('/api/clients', { headers: admin }))?.text ?? '{}');
    return clients.find(({ name }: { name: string }) => name === 'b').budget.remaining;
  };
  for (const index of shares.keys()) await until(async () => (await remainingAt(index)) === budget.tokens - spent);
  t.log(`${answered.length - before} answers over 20 cuts: ${spent} tokens at each of the gateways`);
  t.deepEqual(odd, []);

  const dump: string[] = [];
  const keys = await redis.run('KEYS', '*');
  for (const key of Array.isArray(keys) ? keys : []) {
    const type = await redis.run('TYPE', key);
    dump.push(key, JSON.stringify(await redis.run(type === 'hash' ? 'HGETALL' : 'GET', key)));
  }
  const text = dump.join('\n');
  t.log(`the store holds ${dump.length / 2} keys, ${text.length} characters, after ${sent} conversations`);
  for (const secret of [
    canary,
    'canary-key-of-the-vendor',
    keyOf('a'),
    keyOf('b'),
    adminKey,
    fleetKey,
    storePassword,
  ]) {
    t.false(text.includes(secret), secret);
  }
});

test('a loop of 40 tool calls over three gateways keeps each signature', async (t) => {
  if (!isFull || isMissing(t, 'redis-server')) return t.pass('RELIABILITY=full runs it');
  t.timeout(300_000);
  const { script, seen } = signingUpstream();
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const { replicas } = await fleetRig(t, 3, {
    LOG: false,
    Providers: [{ name: 'g', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'gemini', provider: 'g' }],
  });
  await untilMet(replicas);
  const loop = new ToolLoop();
  for (let round = 0; round <= 40; round += 1) {
    const replica = replicas[round % 3];
    if (replica) await loop.round(replica);
  }
  t.deepEqual(seen, { signed: 40, unsigned: 0 });
});

test('3,000 streams from one trusted balancer', async (t) => {
  if (!isFull) return t.pass('RELIABILITY=full runs it');
  t.timeout(300_000);
  const streams = 3_000;
  let release = () => {};
  const allAreHere = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.teardown(() => release());
  let here = 0;
  const upstream = await startUpstream(async () => {
    here += 1;
    if (here === streams) release();
    await allAreHere;
    return sseAnswer(chatStream(['Hel', 'lo']));
  });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    PROXIES: ['127.0.0.1'],
    LIMITS: { connectionsPerProvider: streams },
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
  });
  t.teardown(gateway.stop);
  const balancer = new Agent({ connections: streams, pipelining: 1 });
  t.teardown(() => balancer.destroy());
  const body = JSON.stringify({ model: 'p,m', stream: true, messages: [{ role: 'user', content: 'hi' }] });
  const ask = async (_: unknown, index: number): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${index % 50}.7` };
    const url = `${gateway.baseUrl}/v1/chat/completions`;
    const answer = await request(url, { method: 'POST', dispatcher: balancer, headers, body });
    const text = await answer.body.text();
    return `${answer.statusCode} ${text.trimEnd().endsWith('data: [DONE]') ? 'whole' : text}`;
  };
  const answers = await Promise.all(Array.from({ length: streams }, ask));
  t.deepEqual([...new Set(answers)], ['200 whole']);
});
