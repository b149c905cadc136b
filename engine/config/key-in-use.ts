import type { Config } from './config.ts';
import { isLoopback } from './loopback.ts';

/**
 * The key to ask for on a port that was opened at `host`. A configuration without a key is meant for a loopback address; where
 * the port is open to other machines until a restart, the key before stays.
 */
export const keyInUse = (host: string, before: string | undefined, { apiKey }: Config): string | undefined =>
  apiKey ?? (isLoopback(host) ? undefined : before);
