// @ts-check
import { subscribe } from 'node:diagnostics_channel';

/** How long a test process that takes too long may still stop its children, in milliseconds. */
const graceMs = 5_000;

/** How long output of a test process may still arrive after its end, in milliseconds. */
const lastOutputMs = 1_000;

/**
 * Keeps the runner from waiting for ever: a test process in an endless loop is killed, and so is the connection to children that it
 * leaves behind and that write to its output.
 */
export const endHung = () => {
  subscribe('child_process', (message) => {
    const { process: child } = /** @type {{ process: import('node:child_process').ChildProcess }} */ (message);
    const kill = child.kill.bind(child);
    child.kill = (signal) => {
      const timer = setTimeout(() => kill('SIGKILL'), graceMs);
      child.once('exit', () => clearTimeout(timer));
      return kill(signal);
    };
    child.once('exit', () => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, lastOutputMs).unref();
    });
  });
};
