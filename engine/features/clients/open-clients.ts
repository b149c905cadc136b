import type { Feature } from '../../feature.ts';
import type { Hub } from '../../hub/hub.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { CurrentGateway } from '../../routing/gateway.ts';
import type { ToldUse } from '../../store/client-use.ts';
import { type ClientServices, ClientSession } from './client-session.ts';
import { createLimiter } from './limiter.ts';
import { UsageLedger } from './usage.ts';

/** Keeps ended requests, and so what clients use. */
export interface UseKeeper {
  /** Says what clients have used so far, without any more requests; null: that is kept nowhere. */
  readonly append: (lines: '') => Promise<ToldUse | null>;
}

/** Options of `openClients`. */
export interface ClientsOptions {
  readonly keeper: UseKeeper;
  readonly current: CurrentGateway;
  readonly log: Pick<AppLog, 'warn'>;
  /** A monotonic clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The limits that several processes share; absent: there are no others. */
  readonly limits: Hub | undefined;
  /** The budgets that several machines share; absent: there are no others. Processes of one machine share them by the keeper. */
  readonly budgets: Hub | undefined;
  readonly everyMs?: number;
}

/** Milliseconds between questions what other processes have counted. */
const askMs = 2_000;

/** The clients as a feature, for what shows them. */
export interface ClientFeature extends Required<Pick<Feature, 'admit' | 'clientsKept' | 'close'>>, ClientServices {}

/** Clients with keys of their own: what they may use, their limits and budgets. */
export const openClients = async (options: ClientsOptions): Promise<ClientFeature> => {
  const { keeper, current, log, nowMs, limits, budgets, everyMs = askMs } = options;
  const usage = new UsageLedger(nowMs, budgets, () =>
    (current.gateway.config.clients ?? []).flatMap(({ name, budget }) => (budget ? [[name, budget.per] as const] : [])),
  );
  const limiter = createLimiter({ nowMs, shared: limits });
  const work = new FileWork(log, 'usage', 'the use of clients in other processes is not known');
  let running: Promise<void> = Promise.resolve();
  const clientsKept = (told: ToldUse): void => usage.kept(told);
  /** Without requests: a process's own are told of when they are kept. */
  const ask = (): Promise<void> => {
    running = running.then(() =>
      work.run(async () => {
        const told = await keeper.append('');
        if (told) clientsKept(told);
      }),
    );
    return running;
  };
  const isUsed = (): boolean => current.gateway.config.clients !== undefined;
  const timer = setInterval(() => {
    if (isUsed()) void ask();
  }, everyMs).unref();
  await ask();
  return {
    admit: ({ namedClient, ...request }) => new ClientSession({ limiter, usage }, namedClient, request),
    limiter,
    usage,
    clientsKept,
    async close() {
      clearInterval(timer);
    },
  };
};
