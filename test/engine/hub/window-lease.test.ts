import test from 'ava';
import fc from 'fast-check';
import type { HubStore } from '../../../engine/hub/contract.ts';
import { Hub } from '../../../engine/hub/hub.ts';
import { MemoryStore } from '../../../engine/hub/memory-store.ts';

/** Members that share a limit, under a clock that is moved by hand. */
const rig = (members: number) => {
  const clock = { ms: 1_000_000 };
  const nowMs = () => clock.ms;
  const store = new MemoryStore({ nowMs, epoch: 'e' });
  const cut = new Set<number>();
  const storeOf = (member: number): HubStore => ({
    exchange: (push) => (cut.has(member) ? Promise.reject(new Error('cut off')) : store.exchange(push)),
    putBlob: (blob) => store.putBlob(blob),
    readBlobs: (names) => store.readBlobs(names),
  });
  const hubs = Array.from(
    { length: members },
    (_, member) => new Hub({ store: storeOf(member), member: String(member), nowMs, waitMs: 1 }),
  );
  return { clock, hubs, cut };
};

/** The most that were admitted in any window, the begin of each being an admission. */
const mostIn = (times: readonly number[], windowMs: number): number => {
  let most = 0;
  let from = 0;
  times.forEach((ms, index) => {
    while ((times[from] ?? 0) <= ms - windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
};

const stepMs = 20;
const tickMs = 200;

/** Runs the members for so long; `demand` says how many requests come to a member in a step. */
const run = async (
  { clock, hubs }: ReturnType<typeof rig>,
  limit: { readonly max: number; readonly windowMs: number },
  forMs: number,
  demand: (member: number, step: number) => number,
): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let step = 0; step * stepMs < forMs; step += 1) {
    clock.ms += stepMs;
    for (const [member, hub] of hubs.entries()) {
      // Ticks of different members come at different times.
      if ((step * stepMs + member * 60) % tickMs === 0) await hub.tick();
      for (let count = demand(member, step); count > 0; count -= 1) {
        if (await hub.admit('l', limit)) times.push(clock.ms);
      }
    }
  }
  return times;
};

test('two members never admit more than the limit in any window, and use at least 95 % of it', async (t) => {
  t.timeout(120_000);
  const cases = [
    { max: 1_000, windowMs: 60_000, shares: [0.9, 0.1] },
    { max: 1_000, windowMs: 10_000, shares: [0.5, 0.5] },
    { max: 30, windowMs: 60_000, shares: [0.7, 0.3] },
  ];
  for (const { shares, ...limit } of cases) {
    const windows = 20;
    // Three times as much as the limit allows.
    const perStep = (3 * limit.max * stepMs) / limit.windowMs;
    const due = shares.map(() => 0);
    const times = await run(rig(2), limit, windows * limit.windowMs, (member) => {
      const now = (due[member] ?? 0) + perStep * (shares[member] ?? 0);
      due[member] = now % 1;
      return Math.floor(now);
    });
    const most = mostIn(times, limit.windowMs);
    t.true(most <= limit.max, `${most} of ${limit.max}`);
    const used = times.length / (limit.max * windows);
    t.true(used >= 0.95, `${JSON.stringify(limit)}: ${used}`);
    t.log(limit, most, used.toFixed(3));
  }
});

test('also under any load; after a silence of the store, at most by what was granted since the last word of each', async (t) => {
  t.timeout(120_000);
  const limit = { max: 60, windowMs: 12_000 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(6), { minLength: 3, maxLength: 3 }), { minLength: 20, maxLength: 40 }),
      fc.array(fc.record({ from: fc.nat(30), length: fc.integer({ min: 1, max: 8 }) }), {
        maxLength: 4,
      }),
      async (loads, silences) => {
        const made = rig(3);
        // All members know of each other.
        for (const hub of [...made.hubs, ...made.hubs]) await hub.tick();
        const times = await run(made, limit, 36_000, (member, step) => {
          const second = Math.floor((step * stepMs) / 1_000);
          if (silences.some(({ from, length }) => second >= from && second < from + length)) made.cut.add(member);
          else made.cut.delete(member);
          return step % ((loads[second % loads.length]?.[member] ?? 0) >= 3 ? 2 : 40) === 0 ? 1 : 0;
        });
        // Without a silence exact. Else what others got in the last tick isn't known to a member, whose share it would lower.
        const more = silences.length === 0 ? 0 : limit.max / made.hubs.length;
        return mostIn(times, limit.windowMs) <= limit.max + more;
      },
    ),
    { numRuns: 30 },
  );
  t.pass();
});
