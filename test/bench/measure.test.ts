import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { spinFor } from '../../engine/bench/floors/spin.ts';
import { Conversation } from '../../engine/bench/load/conversation.ts';
import { allocationProbe, takeAllocations } from '../../engine/bench/measure/allocations.ts';
import { differenceOf, figureOf, isWarm, ratioOf } from '../../engine/bench/measure/figure.ts';
import { busyMs, ForeignLoad } from '../../engine/bench/measure/foreign-load.ts';
import { clearBlocks, longestBlockMs, loopProbe } from '../../engine/bench/measure/loop-blocks.ts';
import { forgetPeak, readMemory } from '../../engine/bench/measure/memory.ts';
import { cpuBetween, readCpu, readMainMs, treeOf } from '../../engine/bench/measure/process-tree.ts';
import type { Wire } from '../../engine/bench/wire.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;

/** Works for a while of processor time, whatever else the machine does. */
const work = (ms: number): string =>
  `const end = process.cpuUsage(); while (process.cpuUsage(end).user + process.cpuUsage(end).system < ${ms * 1e3});`;

/** Runs a program in a process of its own while `look` looks at it; each line on its input lets it take the next step. */
const withProgram = async <T>(
  program: string,
  env: Readonly<Record<string, string>>,
  look: (pid: number, step: () => Promise<void>) => Promise<T>,
): Promise<T> => {
  const child = spawn(process.execPath, ['-e', program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const step = async (): Promise<void> => {
    child.stdin.write('\n');
    await once(child.stdout, 'data');
  };
  try {
    await once(child.stdout, 'data');
    return await look(child.pid ?? 0, step);
  } finally {
    child.kill('SIGKILL');
  }
};

onLinux('processor time counts threads and children, those that have ended too', async (t) => {
  const program = `
    const { Worker } = require('node:worker_threads');
    const { spawn } = require('node:child_process');
    const say = () => process.stdout.write('.');
    const steps = [
      () => new Worker(${JSON.stringify(work(150))}, { eval: true }).once('exit', say),
      () => spawn(process.execPath, ['-e', ${JSON.stringify(work(150))}]).once('exit', say),
      () => { spawn(process.execPath, ['-e', ${JSON.stringify(`${work(150)} process.stdout.write('.'); setInterval(() => {}, 1e3)`)}], { stdio: ['ignore', 'inherit', 'ignore'] }); },
    ];
    process.stdin.on('data', () => steps.shift()?.());
    say();
  `;
  await withProgram(program, {}, async (pid, step) => {
    for (const what of ['a thread that has ended', 'a child that has ended', 'a child that goes on']) {
      const before = { all: readCpu(pid), main: readMainMs(pid) };
      await step();
      const ms = cpuBetween(before.all, readCpu(pid));
      t.true(ms >= 135 && ms < 2_000, `${what}: ${ms} ms`);
      // What threads and ended children do isn't done by the main threads.
      if (what !== 'a child that goes on') t.true(readMainMs(pid) - before.main < 75, what);
    }
    const tree = treeOf(pid);
    t.is(tree.length, 2);
    t.is(tree[0], pid);
    for (const child of tree.slice(1)) process.kill(child, 'SIGKILL');
  });
});

test('a spin takes as long as it is told, whatever that is on this machine', (t) => {
  const took = (us: number): number => {
    const spin = spinFor(us);
    const before = process.cpuUsage();
    for (let time = 0; time < 20; time += 1) spin();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 20;
  };
  const [short, long] = [took(1_000), took(4_000)];
  t.true(long / short > 2.5 && long / short < 6.5, `${short} and ${long} µs`);
  t.is(spinFor(0)(), undefined);
});

onLinux('peak memory begins anew when it is forgotten', async (t) => {
  const program = `
    let held;
    const steps = [() => { held = Buffer.alloc(150e6, 1); held = undefined; gc(); }, () => {}];
    process.stdin.on('data', () => { steps.shift()?.(); process.stdout.write('.'); });
    require('node:v8').setFlagsFromString('--expose-gc');
    globalThis.gc = require('node:vm').runInNewContext('gc');
    process.stdout.write('.');
  `;
  await withProgram(program, {}, async (pid, step) => {
    const small = readMemory(pid).peakMb;
    await step();
    const large = readMemory(pid).peakMb;
    t.true(large > small + 120, `${small} → ${large} MB`);
    forgetPeak(pid);
    await step();
    const after = readMemory(pid);
    t.true(after.peakMb < large - 100 && after.peakMb >= after.rssMb - 1, `${after.peakMb} MB`);
  });
});

onLinux('the probe sees how long the event loop stood still, and doesn’t count waiting', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-probe-'));
  const file = join(folder, 'blocks');
  clearBlocks(file);
  const program = `
    const say = () => setTimeout(() => process.stdout.write('.'), 500);
    const steps = [say, () => { ${work(60)} say(); }];
    process.stdin.on('data', () => steps.shift()?.());
    setTimeout(say, 300);
  `;
  try {
    await withProgram(program, loopProbe(file), async (_, step) => {
      clearBlocks(file);
      await step();
      const idle = longestBlockMs(file);
      clearBlocks(file);
      await step();
      const busy = longestBlockMs(file);
      t.true(busy >= 55 && busy < 500, `${busy} ms`);
      t.true(idle < 40, `${idle} ms`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

onLinux(
  'allocations are counted whether they are collected or kept, each once, and collections by their kind',
  async (t) => {
    const program = `
    const kept = [];
    const steps = [() => { for (let n = 0; n < 1e6; n += 1) kept[n & 1023] = [n, n, n, n]; }, () => gc()];
    process.stdin.on('data', () => { steps.shift()?.(); process.stdout.write('.'); });
    require('node:v8').setFlagsFromString('--expose-gc');
    globalThis.gc = require('node:vm').runInNewContext('gc');
    process.stdout.write('.');
  `;
    t.is(await takeAllocations(process.pid), undefined);
    await withProgram(program, allocationProbe(), async (pid, step) => {
      t.deepEqual(await takeAllocations(pid), { bytes: 0, scavenges: 0, marks: 0 });
      await step();
      const some = (await takeAllocations(pid)) ?? { bytes: 0, scavenges: 0 };
      await step();
      const none = (await takeAllocations(pid)) ?? { bytes: 0, marks: 0 };
      // An array is 32 bytes, its four elements 48. Half of the young part of the heap is at most 16 MB.
      t.true(some.bytes >= 80e6 && some.bytes < 90e6, `${some.bytes} bytes`);
      t.true(some.scavenges >= 4, `${some.scavenges} scavenges`);
      t.true(none.bytes < 2e6, `${none.bytes} bytes`);
      t.is(none.marks, 1);
    });
  },
);

test('a conversation’s requests are JSON, of the size that was asked for, and differ by their last turn', (t) => {
  for (const wire of ['messages', 'chat', 'responses', 'gemini'] as const satisfies readonly Wire[]) {
    for (const bytes of [1_000, 1_400, 100_000, 1_000_000]) {
      const conversation = new Conversation({ wire, streamed: true, bytes, model: 'm', maxTokens: 9 });
      const bodies = Array.from({ length: 20 }, () => {
        const { pieces, bytes: length } = conversation.next();
        const body = Buffer.concat(pieces);
        t.is(body.length, length);
        return body.toString();
      });
      for (const [n, body] of bodies.entries()) {
        t.notThrows(() => JSON.parse(body));
        t.true(body.includes(`New turn ${n}: `), `${wire}, ${bytes}: turn ${n}`);
      }
      const first = Buffer.byteLength(bodies[0] ?? '');
      t.true(first > bytes * 0.9 && first < bytes * 1.2, `${wire}: ${first} for ${bytes}`);
      const grows = Buffer.byteLength(bodies[10] ?? '') > first + 2_000;
      t.is(grows, bytes >= 100_000, `${wire}, ${bytes}: earlier turns stay`);
    }
  }
});

test('a figure is the median of its rounds with their span, unstable from a difference of more than 25 % on', (t) => {
  t.is(figureOf([]), undefined);
  t.deepEqual(figureOf([5]), { median: 5, low: 5, high: 5 });
  t.deepEqual(figureOf([125, 100, 110, 120]), { median: 110, low: 100, high: 125 });
  t.deepEqual(figureOf([530, 262, 255, 540, 270, 262]), {
    median: 262,
    low: 255,
    high: 540,
    modes: [
      { median: 262, rounds: 4 },
      { median: 530, rounds: 2 },
    ],
  });
  t.deepEqual(figureOf([0, 0, 8])?.modes, [
    { median: 0, rounds: 2 },
    { median: 8, rounds: 1 },
  ]);
});

test('two participants are compared round by round, as far as both have rounds that cost something', (t) => {
  t.deepEqual(ratioOf([20, 30, 40], [10, 0, 20]), { median: 2, low: 2, high: 2 });
  t.is(ratioOf([20], []), undefined);
  t.deepEqual(differenceOf([20, 30, 10], [10, 15]), { median: 10, low: 10, high: 15 });
});

test('code is warm once three rounds in a row agree within 10 %', (t) => {
  t.false(isWarm([]));
  t.false(isWarm([10, 10]));
  t.true(isWarm([10, 11, 10.5]));
  t.false(isWarm([10, 11.2, 10]));
  t.true(isWarm([90, 40, 10, 10, 11]));
  t.false(isWarm([10, 10, 10, 12]));
});

test('foreign load is what the machine was busy with besides this run', (t) => {
  const stat = 'cpu  10 20 30 4000 50 6 7 80 9 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n';
  t.is(busyMs(stat), 730);
  const foreign = new ForeignLoad();
  t.is(foreign.cores, 0);
  foreign.add({ atMs: 0, busyMs: 1_000, ownMs: 500 }, { atMs: 1_000, busyMs: 2_000, ownMs: 1_100 });
  t.is(foreign.cores, 0.4);
  foreign.add({ atMs: 5_000, busyMs: 9_000, ownMs: 1_100 }, { atMs: 6_000, busyMs: 10_000, ownMs: 2_110 });
  t.is(foreign.cores, 0.195);
});
