import type { Feature } from '../../feature.ts';
import type { Hub } from '../../hub/hub.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { CurrentGateway } from '../../routing/gateway.ts';
import { within } from '../../runtime/within.ts';
import { type ClientServices, ClientSession } from './client-session.ts';
import { createLimiter } from './limiter.ts';
import { UsageLedger } from './usage.ts';
import type { ClientUsageKeeper } from './usage-files.ts';

/** Options of `openClients`. */
export interface ClientsOptions {
  readonly keeper: ClientUsageKeeper;
  readonly current: CurrentGateway;
  readonly log: Pick<AppLog, 'warn'>;
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The limits that several processes share; absent: there are no others. */
  readonly limits: Hub | undefined;
  /** The budgets that several machines share; absent: there are no others. Processes of one machine share them by the keeper. */
  readonly budgets: Hub | undefined;
  readonly everyMs?: number;
}

/** Milliseconds between exchanges with the process that keeps the usage: what a killed process loses at most. */
const exchangeMs = 2_000;

/** How long a process that ends waits for the one that writes, in milliseconds. */
const closeMs = 5_000;

/** The clients as a feature, for what shows them. */
export interface ClientFeature extends Required<Pick<Feature, 'admit' | 'close'>>, ClientServices {
  /** Hands over what clients have used so far. Never rejects. */
  readonly write: () => Promise<void>;
}

/** Clients with keys of their own: what they may use, their limits and budgets. */
export const openClients = async (options: ClientsOptions): Promise<ClientFeature> => {
  const { keeper, current, log, nowMs, limits, budgets, everyMs = exchangeMs } = options;
  const usage = new UsageLedger(nowMs, budgets, () =>
    (current.gateway.config.clients ?? []).flatMap(({ name, budget }) => (budget ? [[name, budget.per] as const] : [])),
  );
  const limiter = createLimiter({ nowMs, shared: limits });
  const work = new FileWork(log, 'usage', 'the usage of clients waits for the process that keeps it');
  let running: Promise<void> = Promise.resolve();
  const exchange = (): Promise<void> => {
    running = running.then(() => work.run(() => usage.exchange(keeper.add)));
    return running;
  };
  const isUsed = (): boolean => current.gateway.config.clients !== undefined;
  const timer = setInterval(() => {
    if (isUsed()) void exchange();
  }, everyMs).unref();
  await exchange();
  return {
    admit: ({ namedClient, ...request }) => new ClientSession({ limiter, usage }, namedClient, request),
    limiter,
    usage,
    write: exchange,
    async close() {
      clearInterval(timer);
      await within(closeMs, exchange());
    },
  };
};
