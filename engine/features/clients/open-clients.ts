import { join } from 'node:path';
import type { Feature } from '../../feature.ts';
import type { Hub } from '../../hub/hub.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { CurrentGateway } from '../../routing/gateway.ts';
import { type ClientServices, ClientSession } from './client-session.ts';
import { createLimiter } from './limiter.ts';
import { UsageLedger } from './usage.ts';
import { openUsageFiles } from './usage-files.ts';

interface ClientsOptions {
  readonly home: string;
  readonly current: CurrentGateway;
  readonly log: Pick<AppLog, 'warn'>;
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** State that the service's other processes share; absent: there are none. */
  readonly processes: Hub | undefined;
  /** State that other machines share; absent: there are none. */
  readonly machines: Hub | undefined;
  readonly isAlive: (pid: number) => boolean;
}

/** Clients with keys of their own: what they may use, their limits and budgets. */
export const openClients = async (options: ClientsOptions): Promise<Feature & ClientServices> => {
  const { home, current, log, nowMs, processes, machines, isAlive } = options;
  const usage = new UsageLedger(nowMs, machines);
  const limiter = createLimiter({ nowMs, shared: machines ?? processes });
  const files = await openUsageFiles({
    folder: join(home, 'usage'),
    ledger: usage,
    log,
    isUsed: () => current.gateway.config.clients !== undefined,
    isAlive,
  });
  return {
    admit: ({ namedClient, ...request }) => new ClientSession({ limiter, usage }, namedClient, request),
    limiter,
    usage,
    close: files.close,
  };
};
