import type { HistoryKeeper } from '../features/history/hand-over-lines.ts';
import { KeptRequests } from '../features/history/kept-requests.ts';
import type { AppLog } from '../observe/log/logs.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { type OpenStore, openStore as openThread } from '../store/store-thread.ts';

/** Persists one process's request records, usage and the use of clients. */
export interface Keeper {
  readonly history: HistoryKeeper;
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

/** Milliseconds between looks at whether something is too old. */
const tendMs = 60_000;

/** Opens the file of requests, usage and the use of clients in the service's folder. */
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
