import { ApiError, isAbort, wordError } from '../../api/api-error.ts';
import { readLog } from '../../api/logs.ts';
import { createStore, type Store } from '../../state/store.ts';
import type { LogBook } from './log-book.ts';

/** The state of reading a file. */
export interface TailState {
  /** The first response has arrived. */
  readonly loaded: boolean;
  /** Bytes of older lines that the gateway omitted. */
  readonly omitted: number;
  /** Why the last read failed. A missing key or an unreachable gateway is reported by the page's frame instead. */
  readonly error: string | undefined;
}

/** The polling interval, in milliseconds. */
const everyMs = 1_000;

/** A file that is being followed. */
interface Tail {
  readonly state: Store<TailState>;
  /** Reads the new lines. */
  readonly look: () => void;
  /** Whether to look each second. */
  readonly poll: (on: boolean) => void;
  readonly stop: () => void;
}

/** Reads a file into a book, and new lines when told to, or each second while the tab is visible. A truncated file is read again. */
export const followLog = (file: string, book: LogBook): Tail => {
  const leaving = new AbortController();
  const state = createStore<TailState>({ loaded: false, omitted: 0, error: undefined });
  let after = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting = false;
  let polls = false;
  /** There is something new since the read that is under way began. */
  let isDue = false;

  const read = async (): Promise<void> => {
    let next = after;
    let taken = false;
    try {
      await readLog(
        { file, after },
        leaving.signal,
        ({ offset, omitted }) => {
          if (after === 0) state.set({ ...state.get(), omitted });
          else if (offset < after) book.clear();
          next = offset;
        },
        async (lines) => {
          taken = true;
          await book.add(lines);
        },
      );
      after = next;
    } catch (error) {
      // Lines of an interrupted response would be added twice.
      if (taken && !isAbort(error)) {
        book.clear();
        after = 0;
      }
      throw error;
    }
  };
  const turn = async (): Promise<void> => {
    waiting = false;
    isDue = false;
    try {
      await read();
      state.set({ ...state.get(), loaded: true, error: undefined });
    } catch (error) {
      if (isAbort(error)) return;
      // The file is reopened once there is a key or the gateway is back.
      if (isReportedByFrame(error)) return;
      state.set({ ...state.get(), error: wordError(error) });
    }
    if (leaving.signal.aborted) return;
    waiting = true;
    if (isDue) void turn();
    else if (polls && !document.hidden) timer = setTimeout(turn, everyMs);
  };
  const look = (): void => {
    isDue = true;
    if (!waiting) return;
    clearTimeout(timer);
    void turn();
  };
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (polls && waiting && !document.hidden) void turn();
  };
  document.addEventListener('visibilitychange', onVisibility);
  void turn();
  return {
    state,
    look,
    poll(on) {
      polls = on;
      if (on) look();
    },
    stop() {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
};

const isReportedByFrame = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 0);
