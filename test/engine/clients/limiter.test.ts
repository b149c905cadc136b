import test from 'ava';
import { createLimiter, type Limiter, type LimitGrant, type LimitNeed } from '../../../engine/clients/limiter.ts';
import type { ClientLimits } from '../../../engine/config/schema.ts';

const startMs = Date.UTC(2026, 0, 1);

const rig = (share = { index: 0, of: 1 }) => {
  const clock = { nowMs: startMs };
  return { clock, limiter: createLimiter({ nowMs: () => clock.nowMs, share: () => share }) };
};

const small: LimitNeed = { input: 0, output: 0, answers: true };

const granted = (limiter: Limiter, limits: ClientLimits, need = small, client = 'a'): LimitGrant => {
  const taken = limiter.take(client, limits, need);
  if (taken.type === 'grant') return taken;
  throw new Error(`refused: ${taken.limit}`);
};

const countGranted = (limiter: Limiter, limits: ClientLimits, asked: number, need = small): number => {
  let count = 0;
  for (let n = 0; n < asked; n += 1) if (limiter.take('a', limits, need).type === 'grant') count += 1;
  return count;
};

test('requests per minute: the limit is reached, the wait is told, and each client has its own', (t) => {
  const { clock, limiter } = rig();
  const limits = { requestsPerMinute: 3 };
  t.is(countGranted(limiter, limits, 5), 3);
  t.deepEqual(limiter.take('a', limits, small), {
    type: 'refusal',
    limit: 'requestsPerMinute',
    waitMs: 62_000,
    most: 3,
  });
  t.is(limiter.take('b', limits, small).type, 'grant');
  clock.nowMs += 61_999;
  t.is(limiter.take('a', limits, small).type, 'refusal');
  clock.nowMs += 1;
  t.is(countGranted(limiter, limits, 5), 3);
});

test('tokens are reserved, and what was used takes their place', (t) => {
  const { limiter } = rig();
  const limits = { tokensPerMinute: 1000 };
  const need = { input: 300, output: 200, answers: true };
  const first = granted(limiter, limits, need);
  granted(limiter, limits, need);
  t.like(limiter.take('a', limits, need), { limit: 'tokensPerMinute', waitMs: 62_000 });
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
  t.is(limiter.take('a', limits, { input: 1, output: 0, answers: true }).type, 'refusal');
});

test('a prompt above the whole limit never fits, and is refused without a time', (t) => {
  const { limiter } = rig();
  t.deepEqual(limiter.take('a', { tokensPerMinute: 10 }, { input: 11, output: 0, answers: true }), {
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
  t.deepEqual(limiter.take('a', limits, small), { type: 'refusal', limit: 'streams', waitMs: 1000, most: 2 });
  t.is(limiter.take('a', limits, { ...small, answers: false }).type, 'grant');
  t.is(limiter.streams('a'), 2);
  first.settle(0);
  granted(limiter, limits);
});

test('a refusal takes nothing from the other limits, and names the one with the longest wait', (t) => {
  const { clock, limiter } = rig();
  const limits = { requestsPerMinute: 2, tokensPerMinute: 100, streams: 10 };
  granted(limiter, limits, { input: 100, output: 0, answers: true });
  clock.nowMs += 10_000;
  t.like(limiter.take('a', limits, { input: 1, output: 0, answers: true }), {
    limit: 'tokensPerMinute',
    waitMs: 52_000,
  });
  t.is(limiter.streams('a'), 1);
  t.is(limiter.rates('a', limits)[0]?.remaining, 1);
  granted(limiter, limits);
  t.like(limiter.take('a', { ...limits, streams: 2 }, { input: 1, output: 0, answers: true }), {
    limit: 'requestsPerMinute',
  });
});

test('a changed limit applies at once to what was counted before', (t) => {
  const { limiter } = rig();
  t.is(countGranted(limiter, { requestsPerMinute: 10 }, 5), 5);
  t.is(limiter.take('a', { requestsPerMinute: 5 }, small).type, 'refusal');
  t.is(limiter.take('a', { requestsPerMinute: 6 }, small).type, 'grant');
});

for (const [limit, of] of [
  [10, 1],
  [10, 3],
  [7, 4],
  [2, 4],
] as const) {
  test(`${of} processes grant ${limit} together`, (t) => {
    const counts = Array.from({ length: of }, (_, index) =>
      countGranted(rig({ index, of }).limiter, { requestsPerMinute: limit, streams: limit * 10 }, 50),
    );
    t.is(
      counts.reduce((sum, count) => sum + count),
      limit,
    );
    t.true(Math.max(...counts) - Math.min(...counts) <= 1);
  });
}

test('what is remembered has a bound', (t) => {
  const { limiter } = rig();
  for (let n = 0; n < 5_000; n += 1) limiter.take(`client-${n}`, { streams: 1 }, small);
  t.is(limiter.streams('client-0'), 0);
  t.is(limiter.streams('client-4999'), 1);
});
