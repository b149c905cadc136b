// @ts-check
import { subscribe } from 'node:diagnostics_channel';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/** How long a test process may be silent, in milliseconds, unless a test asks for longer. */
const silentMs = 300_000;

/** How long a test process may run after its last test and hook, in milliseconds. */
const leaveMs = 60_000;

/** How long a test process that is told to end may still stop its children, in milliseconds. */
const graceMs = 5_000;

/** How long output of a test process may still arrive after its end, in milliseconds. */
const lastOutputMs = 1_000;

/**
 * Arguments of test processes: they write what keeps them when `SIGUSR2` asks.
 * @param {string} folder
 */
export const reportArguments = (folder) => ['--report-on-signal', `--report-directory=${folder}`];

/**
 * Keeps the runner from waiting for ever: a test process that hangs is killed, and what kept it is printed. The runner's own limit
 * doesn't do: it passes once, and not again if some test has asked for a longer one by then (`TimeoutTrigger` of AVA 7.0.0).
 * @param {string} folder where test processes write their reports
 * @param {{ readonly silentMs?: number, readonly leaveMs?: number, readonly graceMs?: number }} [limits]
 */
export const endHung = (folder, limits = {}) => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  subscribe('child_process', (message) => {
    const { process: child } = /** @type {{ process: ChildProcess }} */ (message);
    child.once('exit', () => {
      // Children that a test process leaves behind may hold its output open.
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, lastOutputMs).unref();
    });
    watch(child, folder, { silentMs, leaveMs, graceMs, ...limits });
  });
};

/**
 * @param {ChildProcess} child
 * @param {string} folder
 * @param {{ readonly silentMs: number, readonly leaveMs: number, readonly graceMs: number }} limits
 */
const watch = (child, folder, limits) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const kill = child.kill.bind(child);
  /** @param {string} why */
  const end = (why) => {
    kill('SIGUSR2');
    timer = setTimeout(() => {
      process.stderr.write(`\nA test process ${why} and is killed. ${readReport(folder, child.pid ?? 0)}\n`);
      kill('SIGKILL');
    }, limits.graceMs);
  };
  /** @param {number} ms @param {string} why */
  const endIn = (ms, why) => {
    clearTimeout(timer);
    timer = setTimeout(() => end(why), ms);
  };
  child.kill = (signal) => {
    clearTimeout(timer);
    timer = setTimeout(() => kill('SIGKILL'), limits.graceMs);
    return kill(signal);
  };
  child.once('exit', () => clearTimeout(timer));
  child.once('spawn', () => {
    // Only test processes have a channel to the runner.
    if (child.connected) endIn(silentMs, 'is silent');
  });

  let longerUntilMs = 0;
  child.on('message', (message) => {
    const { type, period } = eventIn(message);
    if (type === 'test-timeout-configured') longerUntilMs = Math.max(longerUntilMs, Date.now() + period);
    if (type === 'worker-finished') endIn(limits.leaveMs, 'runs on after its tests');
    else endIn(Math.max(limits.silentMs, longerUntilMs - Date.now()), 'is silent');
  });
};

/**
 * The runner's event in a message of a test process.
 * @param {unknown} message
 */
const eventIn = (message) => {
  const { ava = {} } = /** @type {{ readonly ava?: { readonly type?: string, readonly period?: number } }} */ (message);
  return { type: ava.type, period: ava.period ?? 0 };
};

/**
 * What keeps a process, by its report: where its JavaScript stands, and what its event loop waits for.
 * @param {string} folder
 * @param {number} pid
 */
const readReport = (folder, pid) => {
  const name = readdirSync(folder).find((entry) => entry.includes(`.${pid}.`));
  if (!name) return 'It wrote no report, so its JavaScript may be in an endless loop.';
  const { javascriptStack, libuv } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const waits = libuv
    .filter((/** @type {Record<string, unknown>} */ handle) => handle.is_active && handle.is_referenced)
    .map((/** @type {Record<string, unknown>} */ { address, is_active, is_referenced, ...handle }) => handle);
  return `It waits for ${JSON.stringify(waits, null, 1)}\n${javascriptStack?.stack?.join('\n') ?? ''}`;
};
