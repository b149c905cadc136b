import { FileWork } from '../../../observe/log/file-work.ts';
import type { AppLog } from '../../../observe/log/logs.ts';
import { within } from '../../../runtime/within.ts';
import type { RecordLines } from '../../record/record-lines.ts';
import type { HistoryBounds, HistoryKeeper } from './write-history.ts';

/** Options of `handOverLines`. */
interface HandOverOptions {
  /** The folder in which the lines end up, for messages. */
  readonly folder: string;
  /** The lines to hand over. */
  readonly lines: RecordLines;
  readonly keeper: HistoryKeeper;
  readonly bounds: () => HistoryBounds;
  readonly log: Pick<AppLog, 'warn'>;
  readonly everyMs?: number;
}

/** Hands the ended requests of this process over to the one that writes. No method rejects. */
interface HandOver {
  /** Resolves when all requests so far are written. */
  readonly write: () => Promise<void>;
  /** Removes what is kept. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Milliseconds between writes: what a killed process loses at most. */
const writeMs = 1_000;

/** How long a process that ends waits for the one that writes, in milliseconds. */
const closeMs = 5_000;

/** Begins to hand lines over. Applies the bounds first. */
export const handOverLines = async (options: HandOverOptions): Promise<HandOver> => {
  const { lines, keeper, bounds, log, folder } = options;
  const work = new FileWork(log, folder, "the history of requests can't be kept on disk");
  let known = bounds();
  let isWriting = false;
  let isWarnedOfOverfull = false;
  let running: Promise<void> = work.run(() => keeper.bound(known));
  const applyBounds = async (): Promise<void> => {
    const { days, bytes } = bounds();
    if (days === known.days && bytes === known.bytes) return;
    known = { days, bytes };
    await keeper.bound(known);
  };
  const inTurn = (task: () => Promise<void>): Promise<void> => {
    running = running.then(() => work.run(task));
    return running;
  };
  const write = (): Promise<void> => {
    isWriting = true;
    return inTurn(async () => {
      await applyBounds();
      if (known.days === 0) lines.discard();
      for (let next = lines.next(); next; next = lines.next()) {
        await keeper.append({ lines: next.bytes, firstMs: next.firstMs });
        lines.written(next);
      }
      isWarnedOfOverfull = false;
    }).finally(() => {
      isWriting = false;
    });
  };
  lines.onManyWait = () => {
    if (lines.isOverfull && !isWarnedOfOverfull) {
      isWarnedOfOverfull = true;
      log.warn('requests end faster than their history can be written');
    }
    if (!isWriting && !work.isFailing) void write();
  };
  const timer = setInterval(() => {
    if (!isWriting && lines.unwritten > 0) void write();
  }, options.everyMs ?? writeMs).unref();
  await running;
  return {
    write,
    clear() {
      lines.discard();
      return inTurn(() => keeper.clear());
    },
    async close() {
      clearInterval(timer);
      await within(closeMs, write());
    },
  };
};
