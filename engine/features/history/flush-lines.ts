import { randomUUID } from 'node:crypto';
import { FileWork } from '../../observe/log/file-work.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import { within } from '../../runtime/within.ts';
import type { LineBatch, ToldUse } from '../../store/client-use.ts';
import type { StoreBounds } from '../../store/writer.ts';
import type { PendingLines } from '../record/pending-lines.ts';

/** Keeps ended requests of all processes. Each method rejects if the disk refuses. */
export interface HistoryWriter {
  /** Keeps to these bounds from now on. */
  readonly bound: (bounds: StoreBounds) => Promise<void>;
  /**
   * Resolves when the lines are kept: whole ones, each with its line feed, as text or in UTF-8. A batch that was kept before isn't again.
   * Tells what clients have used then; null: that is kept nowhere.
   */
  readonly append: (lines: string | Uint8Array, batch?: LineBatch) => Promise<ToldUse | null>;
  /** Removes everything. */
  readonly clear: () => Promise<void>;
  /** Sets a damaged file aside. */
  readonly check: () => Promise<void>;
}

/** Options of `flushLines`. */
interface FlushOptions {
  /** The file in which the lines end up, for messages. */
  readonly file: string;
  /** The lines to flush. */
  readonly lines: PendingLines;
  readonly writer: HistoryWriter;
  readonly bounds: () => StoreBounds;
  /** Called with what clients have used, after each batch. */
  readonly onKept: (told: ToldUse) => void;
  readonly log: Pick<AppLog, 'warn'>;
  readonly everyMs?: number;
}

/** Flushes the ended requests of this process to the one that writes. No method rejects. */
interface LineFlush {
  /** Resolves when all requests so far are written. */
  readonly write: () => Promise<void>;
  /** Removes what is kept. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Milliseconds between flushes: what a killed process loses at most. */
const writeMs = 1_000;

/** Time limit of a process that ends and waits for its writer, in milliseconds. */
const closeMs = 5_000;

/** Begins to flush lines. Applies the bounds first. */
export const flushLines = async (options: FlushOptions): Promise<LineFlush> => {
  const { lines, writer, bounds, onKept, log, file } = options;
  const writerId = randomUUID();
  const work = new FileWork(log, file, "the history of requests can't be kept on disk");
  let known = bounds();
  let isWriting = false;
  let isWarnedOfOverfull = false;
  let running: Promise<void> = work.run(() => writer.bound(known));
  const applyBounds = async (): Promise<void> => {
    const { days, bytes } = bounds();
    if (days === known.days && bytes === known.bytes) return;
    known = { days, bytes };
    await writer.bound(known);
  };
  const inTurn = (task: () => Promise<void>): Promise<void> => {
    running = running.then(() => work.run(task));
    return running;
  };
  /** What comes meanwhile is left to the next time: it would be written in small batches, each of which costs a transaction. */
  const flush = async (lastPiece: number): Promise<void> => {
    for (let next = lines.next(lastPiece); next; next = lines.next(lastPiece)) {
      const told = await writer.append(next.bytes, { writer: writerId, n: next.n });
      lines.written(next);
      if (told) onKept(told);
    }
  };
  const write = (lastPiece = lines.lastPiece): Promise<void> => {
    isWriting = true;
    return inTurn(async () => {
      await applyBounds();
      await flush(lastPiece);
      isWarnedOfOverfull = false;
      const lost = lines.takeLost();
      if (lost > 0)
        log.warn('requests are missing from the history: too many waited to be written', { requests: lost });
    }).finally(() => {
      isWriting = false;
    });
  };
  lines.onBlockWaits = () => {
    if (lines.isOverfull && !isWarnedOfOverfull) {
      isWarnedOfOverfull = true;
      log.warn('requests end faster than their history can be written');
    }
    // Not the last one, which still grows.
    if (!isWriting && !work.isFailing) void write(lines.lastPiece - 1);
  };
  const timer = setInterval(() => {
    if (!isWriting && lines.unwritten > 0) void write();
  }, options.everyMs ?? writeMs).unref();
  await running;
  return {
    write: () => write(),
    clear() {
      return inTurn(async () => {
        // They are removed, but counted.
        await flush(lines.lastPiece).catch(() => lines.discard());
        await writer.clear();
      });
    },
    async close() {
      clearInterval(timer);
      await within(closeMs, write());
    },
  };
};
