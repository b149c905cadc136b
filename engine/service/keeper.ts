import { join } from 'node:path';
import type { ClientUsageFile, ClientUsageKeeper } from '../features/clients/usage-files.ts';
import type { HistoryKeeper } from '../features/history/hand-over-lines.ts';
import { KeptRequests } from '../features/history/kept-requests.ts';
import type { AppLog } from '../observe/log/logs.ts';
import { loadOnce } from '../runtime/load-once.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { type OpenStore, openStore as openThread } from '../store/store-thread.ts';

/** Persists one process's request records, usage and client usage. */
export interface Keeper {
  readonly history: HistoryKeeper;
  readonly clients: ClientUsageKeeper;
  /** Writes what all processes have handed over. */
  readonly flush: () => Promise<void>;
}

/** A process whose requests are kept. */
export interface KeptMember extends Keeper {
  /** The process has ended. */
  readonly leave: () => void;
}

/** What is kept of requests. One process of the service writes it. */
export interface Records {
  /** Begins to keep the requests of a process. */
  readonly join: () => KeptMember;
  /** Writes what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

interface RecordsOptions {
  /** The service's folder. */
  readonly home: string;
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number;
  /** The same, by a monotonic clock. */
  readonly steadyNowMs?: () => number;
  /** Default: a thread. */
  readonly openStore?: OpenStore | undefined;
}

/** Milliseconds between writes: with the time between hand-overs, what a killed service loses at most. */
const writeMs = 3_000;

/** Opens the files of requests, usage and clients in the service's folder. */
export const openRecords = ({
  home,
  log,
  nowMs = Date.now,
  steadyNowMs = steadyClock.nowMs,
  openStore = openThread,
}: RecordsOptions): Records => {
  const members = new Set<number>();
  let joined = 0;
  const history = new KeptRequests({ home, log, openStore, nowMs: () => Math.min(nowMs(), steadyNowMs()) });
  let clients: ClientUsageFile | undefined;
  // Loaded with the first client.
  const openClients = loadOnce(async () => {
    const { ClientUsageFile: Opened } = await import('../features/clients/usage-files.ts');
    clients = new Opened({ folder: join(home, 'usage'), log, nowMs: steadyNowMs });
    return clients;
  });
  const write = async (): Promise<void> => {
    await clients?.write();
  };
  const timer = setInterval(() => {
    void write();
    void history.tend();
  }, writeMs).unref();
  return {
    join() {
      joined += 1;
      const member = joined;
      members.add(member);
      return {
        history,
        clients: {
          add: async (used) => ({
            all: await (await openClients()).add(used),
            restates: Math.min(...members) === member,
          }),
        },
        flush: write,
        leave() {
          members.delete(member);
        },
      };
    },
    async close() {
      clearInterval(timer);
      await Promise.all([clients?.write(), history.close()]);
    },
  };
};
