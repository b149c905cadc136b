import type { HistoryWriter } from '../features/history/flush-lines.ts';
import { RequestWriter } from '../features/history/request-writer.ts';
import type { AppLog } from '../observe/log/logs.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { type OpenStore, openStore as openThread } from '../store/store-thread.ts';

/** Persists one process's request records, usage and the use of clients. */
export interface Persistence {
  readonly history: HistoryWriter;
}

/** A process whose requests are kept. */
export interface MemberPersistence extends Persistence {
  /** The process has ended. */
  readonly leave: () => void;
}

/** Persists the requests of all processes. One process of the service does this. */
export interface ServicePersistence {
  /** Begins to keep the requests of a process. */
  readonly join: () => MemberPersistence;
  /** Writes what is left. Never rejects. */
  readonly close: () => Promise<void>;
}

interface PersistenceOptions {
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

/** Milliseconds between looks at whether something is too old. */
const tendMs = 60_000;

/** Opens the file of requests, usage and the use of clients in the service's folder. */
export const openPersistence = ({
  home,
  log,
  nowMs = Date.now,
  steadyNowMs = steadyClock.nowMs,
  openStore = openThread,
}: PersistenceOptions): ServicePersistence => {
  const members = new Set<number>();
  let joined = 0;
  const history = new RequestWriter({ home, log, openStore, nowMs: () => Math.min(nowMs(), steadyNowMs()) });
  const timer = setInterval(() => void history.tend(), tendMs).unref();
  return {
    join() {
      joined += 1;
      const member = joined;
      members.add(member);
      return {
        history: {
          bound: (bounds) => history.bound(bounds),
          clear: () => history.clear(),
          check: () => history.check(),
          async append(lines, batch) {
            const kept = await history.append(lines, batch);
            return kept && { ...kept, restates: Math.min(...members) === member };
          },
        },
        leave() {
          members.delete(member);
        },
      };
    },
    async close() {
      clearInterval(timer);
      await history.close();
    },
  };
};
