import { closeSync, openSync } from 'node:fs';
import { isAlive } from './find-service.ts';

/** Polling interval, in milliseconds. */
const pollMs = 500;

/**
 * Calls `ended` once when the parent process has ended. npm runs scripts in a shell and sends SIGTERM only to that shell, which
 * doesn't forward it.
 */
export const whenParentEnds = (ended: () => void): void => {
  const parent = process.ppid;
  // Windows keeps the PPID of an ended parent.
  const isGone = (): boolean => (process.platform === 'win32' ? !isAlive(parent) : process.ppid !== parent);
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    ended();
  }, pollMs).unref();
};

/** Returns a check for SIGHUP handlers: whether the terminal was closed. Otherwise the signal was sent on purpose. */
export const terminalCheck = (): (() => boolean) => {
  const hadTerminal = hasTerminal();
  return () => process.platform === 'win32' || (hadTerminal && !hasTerminal());
};

/**
 * Whether the process has a controlling terminal: `/dev/tty` can be opened only while it exists, even if output is redirected.
 */
const hasTerminal = (): boolean => {
  if (!(process.stdout.isTTY || process.stderr.isTTY)) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
};
