import test from 'ava';
import type { ClientLimits } from '../../../../engine/config/schema.ts';
import {
  createLimiter,
  type Limiter,
  type LimitGrant,
  type LimitNeed,
  type LimitRefusal,
} from '../../../../engine/features/clients/limiter.ts';
import { Hub } from '../../../../engine/hub/hub.ts';
import { MemoryStore } from '../../../../engine/hub/memory-store.ts';

const startMs = Date.UTC(2026, 0, 1);

const rig = () => {
  const clock = { nowMs: startMs };
  return { clock, limiter: createLimiter({ nowMs: () => clock.nowMs }) };
};

const small: LimitNeed = { input: 0, output: 0, answers: true };

/** Without other processes, the answer is there at once. */
const take = (limiter: Limiter, ...asked: Parameters<Limiter['take']>): LimitGrant | LimitRefusal => {
  const taken = limiter.take(...asked);
  if (taken instanceof Promise) throw new Error('asked elsewhere');
  return taken;
};

const granted = (limiter: Limiter, limits: ClientLimits, need = small, client = 'a'): LimitGrant => {
  const taken = take(limiter, client, limits, need);
  if (taken.type === 'grant') return taken;
  throw new Error(`refused: ${taken.limit}`);
};

const countGranted = (limiter: Limiter, limits: ClientLimits, asked: number, need = small): number => {
  let count = 0;
  for (let n = 0; n < asked; n += 1) if (take(limiter, 'a', limits, need).type === 'grant') count += 1;
  return count;
};

test('requests per minute: the limit is reached, the wait is told, and each client has its own', (t) => {
  const { clock, limiter } = rig();
  const limits = { requestsPerMinute: 3 };
  t.is(countGranted(limiter, limits, 5), 3);
  t.deepEqual(take(limiter, 'a', limits, small), {
    type: 'refusal',
    limit: 'requestsPerMinute',
    waitMs: 62_000,
    most: 3,
  });
  t.is(take(limiter, 'b', limits, small).type, 'grant');
  clock.nowMs += 61_999;
  t.is(take(limiter, 'a', limits, small).type, 'refusal');
  clock.nowMs += 1;
  t.is(countGranted(limiter, limits, 5), 3);
});

test('tokens are reserved, and what was used takes their place', (t) => {
  const { limiter } = rig();
  const limits = { tokensPerMinute: 1000 };
  const need = { input: 300, output: 200, answers: true };
  const first = granted(limiter, limits, need);
  granted(limiter, limits, need);
  t.like(take(limiter, 'a', limits, need), { limit: 'tokensPerMinute', waitMs: 62_000 });
  first.settle(310);
  t.like(limiter.rates('a', limits)[0], { of: 'tokens', limit: 1000, remaining: 190 });
  granted(limiter, limits, { input: 190, output: 0, answers: true });
  t.is(limiter.rates('a', limits)[0]?.remaining, 0);
});

test('an answer that used more than was reserved is counted as it was', (t) => {
  const { limiter } = rig();
  const limits = { tokensPerMinute: 1000 };
  granted(limiter, limits, { input: 100, output: 100, answers: true }).settle(5_000);
  t.is(limiter.rates('a', limits)[0]?.remaining, 0);
  t.is(take(limiter, 'a', limits, { input: 1, output: 0, answers: true }).type, 'refusal');
});

test('a prompt above the whole limit never fits, and is refused without a time', (t) => {
  const { limiter } = rig();
  t.deepEqual(take(limiter, 'a', { tokensPerMinute: 10 }, { input: 11, output: 0, answers: true }), {
    type: 'refusal',
    limit: 'tokensPerMinute',
    waitMs: undefined,
    most: 10,
  });
});

test('answers at a time: the end of one makes room; counting needs none', (t) => {
  const { limiter } = rig();
  const limits = { streams: 2 };
  const first = granted(limiter, limits);
  granted(limiter, limits);
  t.deepEqual(take(limiter, 'a', limits, small), { type: 'refusal', limit: 'streams', waitMs: 1000, most: 2 });
  t.is(take(limiter, 'a', limits, { ...small, answers: false }).type, 'grant');
  t.is(limiter.streamsLeft('a', 2), 0);
  first.settle(0);
  granted(limiter, limits);
});

test('a refusal takes nothing from the other limits, and names the one with the longest wait', (t) => {
  const { clock, limiter } = rig();
  const limits = { requestsPerMinute: 2, tokensPerMinute: 100, streams: 10 };
  granted(limiter, limits, { input: 100, output: 0, answers: true });
  clock.nowMs += 10_000;
  t.like(take(limiter, 'a', limits, { input: 1, output: 0, answers: true }), {
    limit: 'tokensPerMinute',
    waitMs: 52_000,
  });
  t.is(limiter.streamsLeft('a', 10), 9);
  t.is(limiter.rates('a', limits)[0]?.remaining, 1);
  granted(limiter, limits);
  t.like(take(limiter, 'a', { ...limits, streams: 2 }, { input: 1, output: 0, answers: true }), {
    limit: 'requestsPerMinute',
  });
});

test('a changed limit applies at once to what was counted before', (t) => {
  const { limiter } = rig();
  t.is(countGranted(limiter, { requestsPerMinute: 10 }, 5), 5);
  t.is(take(limiter, 'a', { requestsPerMinute: 5 }, small).type, 'refusal');
  t.is(take(limiter, 'a', { requestsPerMinute: 6 }, small).type, 'grant');
});

test('what is remembered has a bound', (t) => {
  const { limiter } = rig();
  for (let n = 0; n < 5_000; n += 1) take(limiter, `client-${n}`, { streams: 1 }, small);
  t.is(limiter.streamsLeft('client-0', 1), 1);
  t.is(limiter.streamsLeft('client-4999', 1), 0);
});

/** Processes that share their limits by a store, under one clock. */
const processes = (count: number) => {
  const clock = { nowMs: startMs };
  const nowMs = () => clock.nowMs;
  const store = new MemoryStore({ nowMs, epoch: 'e' });
  const hubs = Array.from({ length: count }, (_, index) => new Hub({ store, member: String(index), nowMs, waitMs: 1 }));
  return { clock, hubs, limiters: hubs.map((shared) => createLimiter({ nowMs, shared })) };
};

test('tokens are those of all processes, however unevenly they are asked; what is not used is given back', async (t) => {
  const { clock, hubs, limiters } = processes(3);
  const limits = { tokensPerMinute: 10_000 };
  t.is((await limiters[2]?.take('b', limits, { ...small, input: 9_000 }))?.type, 'grant', 'more than an equal share');
  const used: { readonly atMs: number; readonly tokens: number }[] = [];
  const running: { readonly endMs: number; readonly end: () => void }[] = [];
  let refusal: LimitRefusal | undefined;
  // Twice as much as the limit allows, most of it at the first process; a third of each reservation is used.
  for (let n = 0; n < 3_000; n += 1) {
    clock.nowMs += 100;
    for (const one of running.splice(0)) {
      if (one.endMs <= clock.nowMs) one.end();
      else running.push(one);
    }
    if (n % 2 === 0) for (const hub of hubs) await hub.tick();
    const by = n % 10 === 0 ? 2 : n % 5 === 0 ? 1 : 0;
    const taken = await limiters[by]?.take('a', limits, { input: 20, output: 70, answers: true });
    if (taken?.type === 'refusal') refusal = taken;
    if (taken?.type !== 'grant') continue;
    const atMs = clock.nowMs;
    used.push({ atMs, tokens: 30 });
    running.push({ endMs: atMs + 500, end: () => taken.settle(30) });
  }
  t.like(refusal, { limit: 'tokensPerMinute', most: 10_000 });
  t.true((refusal?.waitMs ?? 0) > 0 && (refusal?.waitMs ?? 0) <= 62_000);
  const windows = used.map(({ atMs }) =>
    used.reduce((sum, one) => (one.atMs >= atMs && one.atMs < atMs + 60_000 ? sum + one.tokens : sum), 0),
  );
  t.true(Math.max(...windows) <= 10_000, `${Math.max(...windows)}`);
  const all = used.reduce((sum, { tokens }) => sum + tokens, 0);
  t.log(`${all} of 50,000 in five minutes`);
  t.true(all >= 45_000, `${all}`);
  t.like(limiters[1]?.rates('a', limits)[0], { of: 'tokens', limit: 10_000 });
});

test('a request that tokens refuse takes none of the requests per minute', async (t) => {
  const { hubs, limiters } = processes(2);
  const limits = { requestsPerMinute: 4, tokensPerMinute: 100 };
  const ask = (input: number) => limiters[0]?.take('a', limits, { ...small, input });
  t.is((await ask(90))?.type, 'grant');
  for (let n = 0; n < 5; n += 1) t.like(await ask(50), { type: 'refusal', limit: 'tokensPerMinute' });
  t.like(await ask(101), { type: 'refusal', limit: 'tokensPerMinute', waitMs: undefined });
  for (const hub of hubs) await hub.tick();
  t.is((await ask(5))?.type, 'grant');
});

test('several processes use requests and streams exactly, however unevenly they are asked, and give places back', async (t) => {
  const { clock, hubs, limiters } = processes(3);
  const limits = { requestsPerMinute: 40, streams: 10 };
  const grants: (LimitGrant & { readonly by: number })[] = [];
  const refused = new Set<string>();
  for (let n = 0; n < 60; n += 1) {
    clock.nowMs += 50;
    // Most come to the first one.
    const by = n % 10 === 0 ? 2 : n % 5 === 0 ? 1 : 0;
    if (n % 4 === 0) for (const hub of hubs) await hub.tick();
    const taken = await limiters[by]?.take('a', limits, small);
    if (taken?.type === 'grant') grants.push({ ...taken, by });
    else if (taken) refused.add(taken.limit);
  }
  t.is(grants.length, 10);
  t.deepEqual([...refused], ['streams']);
  t.is(limiters[1]?.streamsLeft('a', 10), 0);
  for (const { settle } of grants.splice(0)) settle(0);
  for (let n = 0; n < 60; n += 1) {
    clock.nowMs += 50;
    const taken = await limiters[n % 2]?.take('a', limits, small);
    if (taken?.type === 'grant') taken.settle(0);
    if (taken?.type === 'grant') grants.push({ ...taken, by: n % 2 });
    if (n % 4 === 0) for (const hub of hubs) await hub.tick();
  }
  t.true(grants.length <= 30 && grants.length >= 28, `${grants.length}`);
  const last = await limiters[0]?.take('a', limits, small);
  t.like(last, { type: 'refusal', limit: 'requestsPerMinute', most: 40 });
  t.true(last?.type === 'refusal' && (last.waitMs ?? 0) > 50_000 && (last.waitMs ?? 0) <= 62_000);
  t.like(limiters[1]?.rates('a', limits)[0], { of: 'requests', limit: 40 });
});

test('what was admitted before another process shares the limits counts for both', async (t) => {
  const nowMs = () => startMs;
  const store = new MemoryStore({ nowMs, epoch: 'e' });
  let isShared = false;
  const options = { store, nowMs, waitMs: 1 };
  const first = new Hub({ ...options, member: 'first', isShared: () => isShared });
  const limits = { requestsPerMinute: 3, tokensPerMinute: 100 };
  const alone = createLimiter({ nowMs, shared: first });
  granted(alone, limits, { input: 40, output: 0, answers: true }).settle(50);
  granted(alone, limits, { input: 10, output: 0, answers: true });
  isShared = true;
  await first.tick();
  const second = createLimiter({ nowMs, shared: new Hub({ ...options, member: 'second' }) });
  t.like(await second.take('a', limits, { input: 41, output: 0, answers: true }), { limit: 'tokensPerMinute' });
  t.is((await second.take('a', limits, small)).type, 'grant');
  t.like(await second.take('a', limits, small), { type: 'refusal', limit: 'requestsPerMinute' });
});
