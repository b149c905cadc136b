import type { Config } from './config.ts';
import { isLoopback } from './loopback.ts';

/** The fields in which two configurations differ and that hold from a service's start to its end. */
export const needsRestart = (started: Config, next: Config): readonly string[] => [
  ...(started.host === next.host ? [] : ['HOST']),
  ...(started.port === next.port ? [] : ['PORT']),
  ...(started.workers === next.workers ? [] : ['WORKERS']),
  // See `keyInUse`.
  ...(isLoopback(started.host) || next.apiKey ? [] : ['APIKEY']),
];
