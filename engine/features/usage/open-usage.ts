import type { Feature } from '../../feature.ts';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import { within } from '../../runtime/within.ts';
import type { UsageKeeper } from './bucket-files.ts';
import { bucketStartMs, type CountedRequest, currentOf, type UsageBucket } from './buckets.ts';

interface UsageOptions {
  readonly keeper: UsageKeeper;
  readonly log: Pick<AppLog, 'warn'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly everyMs?: number;
}

/** Counts the usage of this process, and hands it over to the one that writes. */
interface UsageFeature extends Feature {
  readonly add: (request: CountedRequest) => void;
  /** Hands over what is counted so far. Never rejects. */
  readonly write: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Milliseconds between hand-overs: what a killed process loses at most. */
export const handOverMs = 2_000;

/** How long a process that ends waits for the one that writes, in milliseconds. */
const closeMs = 5_000;

/** Steps that are kept while they can't be handed over; from then on, two count as one. */
const maxSteps = 24;

/** Counts requests, tokens and cost over time. */
export const openUsage = ({ keeper, log, nowMs, everyMs = handOverMs }: UsageOptions): UsageFeature => {
  const work = new FileWork(log, 'usage', 'usage waits for the process that keeps it');
  const steps: UsageBucket[] = [];
  let running: Promise<void> = Promise.resolve();
  let latestMs = 0;
  const add = (request: CountedRequest): void => {
    latestMs = Math.max(latestMs, nowMs());
    currentOf(steps, '5s', latestMs).add(request);
    if (steps.length > maxSteps) steps[0]?.fold(steps.splice(1, 1)[0]?.rows ?? []);
  };
  const handOver = async (): Promise<void> => {
    for (let step = steps.shift(); step; step = steps.shift()) {
      try {
        await keeper.take(bucketStartMs(step.name), step.rows);
      } catch (error) {
        steps.unshift(step);
        throw error;
      }
    }
  };
  const write = (): Promise<void> => {
    running = running.then(() => work.run(handOver));
    return running;
  };
  const timer = setInterval(() => {
    if (steps.length > 0) void write();
  }, everyMs).unref();
  return {
    follow: { ended: add },
    add,
    write,
    async close() {
      clearInterval(timer);
      await within(closeMs, write());
    },
  };
};
