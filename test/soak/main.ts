import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openFilesOf } from '../support/faults/gateway-process.ts';
import { collectGarbage, probeEnvironment, readProbe } from '../support/faults/read-probe.ts';
import { providersAt } from '../support/faults/wires.ts';
import { addressIn, bin } from '../support/processes/command.ts';
import { startFaultyUpstreams, startLoad } from './load.ts';
import { slopeOf } from './slope.ts';
import { startSocketLoad, startSocketVendors } from './sockets.ts';

/**
 * R14: a gateway as users run it under streams, one in ten of which fails and one in ten of which its client leaves, beside turns over
 * WebSocket, slow uploads, providers that stop and clients that flood. Prints what it measures and ends with 1 when a bar is missed.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    streams: { type: 'string', default: '200' },
    /** `uws` or `node`; empty: as the gateway chooses. */
    server: { type: 'string', default: '' },
  },
});
const minutes = Number(values.minutes);
const streams = Number(values.streams);

/** The part of the run in which pools fill and code is compiled, at most. */
const warmUpMs = Math.min(60_000, minutes * 30_000);
/** A slope is worth its name only over a time in which garbage and noise don't make it. */
const leastMinutesForSlope = 20;
/** How much the heap may grow in the second half of a short run, in megabytes: caches that still fill, not what each stream leaves. */
const mostHeapMb = 4;

const home = await mkdtemp(join(tmpdir(), 'junctor-soak-'));
const upstreams = await startFaultyUpstreams();
const vendors = await startSocketVendors();
const { Providers, ...formats } = providersAt((wire) => upstreams[wire].url);
await writeFile(
  join(home, 'config.json'),
  JSON.stringify({
    PORT: 0,
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000_000_000 },
    ...formats,
    Providers: [...Providers, ...vendors.providers],
  }),
);
const { PATH = '' } = process.env;
const gateway = spawn(process.execPath, [bin, 'start'], {
  env: { PATH, HOME: home, JUNCTOR_HOME: home, JUNCTOR_HTTP: values.server, ...probeEnvironment(home) },
});
const exited = once(gateway, 'exit');
const pid = gateway.pid ?? 0;
let said = '';
for (const output of [gateway.stdout, gateway.stderr]) {
  output.on('data', (data) => {
    said += data;
  });
}
const failures: string[] = [];
const check = (holds: boolean, what: string): void => {
  console.log(`${holds ? 'held   ' : 'MISSED '} ${what}`);
  if (!holds) failures.push(what);
};

try {
  while (!said.includes('listens on')) {
    if (gateway.exitCode !== null) throw new Error(said);
    await wait(50);
  }
  const baseUrl = addressIn(said);
  // A first round makes what is made once: pools, log files, compiled code.
  const first = startLoad(baseUrl, 20);
  const firstSockets = startSocketLoad(baseUrl, 20);
  await wait(3_000);
  await Promise.all([first.end(), firstSockets.end()]);
  /** Idle connections on both sides end, so that what is open is what is kept. */
  const settle = async (): Promise<number> => {
    await wait(6_000);
    for (const upstream of Object.values(upstreams)) upstream.closeIdle();
    vendors.closeIdle();
    await wait(1_000);
    return openFilesOf(pid);
  };
  const filesBefore = await settle();

  const load = startLoad(baseUrl, streams);
  const sockets = startSocketLoad(baseUrl, streams);
  const samples: { readonly minutes: number; readonly megabytes: number }[] = [];
  /** The heap without any stream at work, after each half of a short run: what is at work depends on how busy the machine is. */
  const heaps: number[] = [];
  const settledHeap = async (): Promise<void> => {
    await settle();
    heaps.push((await collectGarbage(home, pid)).heapUsed / 1e6);
  };
  const isShort = minutes < leastMinutesForSlope;
  const fromMs = performance.now();
  const endMs = fromMs + minutes * 60_000;
  const halfMs = fromMs + minutes * 30_000;
  const everyMs = Math.max(2_000, (minutes * 60_000) / 60);
  while (performance.now() < endMs) {
    await wait(everyMs);
    if (gateway.exitCode !== null) throw new Error(`the gateway ended: ${said}`);
    const { rss, heapUsed } = await collectGarbage(home, pid);
    const atMs = performance.now() - fromMs;
    if (atMs >= warmUpMs) samples.push({ minutes: atMs / 60_000, megabytes: rss / 1e6 });
    const { whole, faulted, left, wrongs } = load.tallies;
    console.log(
      `${(atMs / 60_000).toFixed(1)} min: ${whole} whole, ${faulted} faults, ${left} left, ${wrongs} wrong; RSS ${(rss / 1e6).toFixed(0)} MB, heap ${(heapUsed / 1e6).toFixed(1)} MB`,
    );
    if (isShort && heaps.length === 0 && performance.now() >= halfMs) {
      await Promise.all([load.end(), sockets.end()]);
      await settledHeap();
      load.resume();
      sockets.resume();
    }
  }
  const { p50Ms, p99Ms } = readProbe(home, pid);
  await Promise.all([load.end(), sockets.end()]);
  const { tallies } = load;
  let files = await settle();
  for (let round = 0; round < 5 && Math.abs(files - filesBefore) > 2; round += 1) files = await settle();
  if (isShort) await settledHeap();
  const { unhandled } = readProbe(home, pid);
  const { perHour, uncertainty } = slopeOf(samples);

  check(
    tallies.wrongs === 0,
    `${tallies.whole} streams whole with their text, ${tallies.faulted} faults with one error each, ${tallies.left} left; ${tallies.wrongs} wrong`,
  );
  const { turn, upload, dead, relay, flood, wrong, wrongs } = sockets.tallies;
  check(
    wrongs === 0 && [turn, upload, dead, relay, flood].every((count) => count > 0),
    `${turn} × 5 turns over WebSocket, ${upload} slow uploads, ${dead} over HTTP after their WebSocket's path was gone, ${relay} errors of providers that stopped, ${flood} floods of pings ended; ${wrongs} wrong`,
  );
  for (const what of [...tallies.wrong.slice(0, 10), ...wrong.slice(0, 10)]) console.log(`        ${what}`);
  check(Math.abs(files - filesBefore) <= 2, `open files ${filesBefore} before, ${files} after`);
  const lateness = `event loop late by ${p50Ms} ms (p50), ${p99Ms} ms (p99)`;
  // A short run is part of the checks of a change, on machines that do other things too: there it is only shown.
  if (!isShort) check(p99Ms < 20, lateness);
  else console.log(`        ${lateness}`);
  check(unhandled === 0, `${unhandled} unhandled rejections or exceptions`);
  const slope = `memory ${perHour.toFixed(1)} ± ${uncertainty.toFixed(1)} MB an hour over ${(minutes - warmUpMs / 60_000).toFixed(1)} minutes after the warm-up`;
  if (!isShort) check(perHour - uncertainty < 1, slope);
  else {
    // The slope's own uncertainty is larger than the bar then: what a short run can show is a heap that keeps what it should not.
    console.log(`        ${slope}: too short for the bar of 1 MB`);
    const [first = 0, second = 0] = heaps;
    check(
      heaps.length === 2 && second - first < mostHeapMb,
      `the heap without streams is ${first.toFixed(1)} MB after the first half, ${second.toFixed(1)} MB after the second, at most ${mostHeapMb} MB more`,
    );
  }
} finally {
  gateway.kill('SIGTERM');
  await Promise.race([exited, wait(35_000).then(() => gateway.kill('SIGKILL'))]);
  for (const upstream of Object.values(upstreams)) await upstream.close();
  await vendors.close();
  await rm(home, { recursive: true, force: true });
}
check(gateway.exitCode === 0, `the gateway ended with ${gateway.exitCode}`);
process.exit(failures.length === 0 ? 0 : 1);
