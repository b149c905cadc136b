import type { Logs } from './logs.ts';

const ignore = (): void => {};
const done = (): Promise<void> => Promise.resolve();

/** Logs that write nothing; for tests. */
export const quietLogs: Logs = {
  server: { request: ignore, completed: ignore, event: ignore },
  app: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  adjust: ignore,
  flush: done,
  flushSync: ignore,
  close: done,
};
