import { ApiError, isAbort, wordError } from '../../api/api-error.ts';
import { readLog } from '../../api/logs.ts';
import { createStore, type Store } from '../../state/store.ts';
import type { LogBook } from './log-book.ts';

/** How the reading of a file stands. */
export interface TailState {
  /** The first answer is there. */
  readonly loaded: boolean;
  /** Bytes of older lines that the gateway left out. */
  readonly omitted: number;
  /** Why the newest attempt failed. A missing key and a gateway that doesn't answer aren't told here: the page's frame does. */
  readonly error: string | undefined;
}

/** How often a file is asked for what is new, in milliseconds. */
const everyMs = 1_000;

/** A file being followed. */
interface Tail {
  readonly state: Store<TailState>;
  readonly stop: () => void;
}

/** Reads a file into a book, and then what is added to it, each second while the tab is in sight; from anew once it was emptied. */
export const followLog = (file: string, book: LogBook): Tail => {
  const leaving = new AbortController();
  const state = createStore<TailState>({ loaded: false, omitted: 0, error: undefined });
  let after = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting = false;

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
      // What came of an answer that broke off would come once more.
      if (taken && !isAbort(error)) {
        book.clear();
        after = 0;
      }
      throw error;
    }
  };
  const turn = async (): Promise<void> => {
    waiting = false;
    try {
      await read();
      state.set({ ...state.get(), loaded: true, error: undefined });
    } catch (error) {
      if (isAbort(error)) return;
      // Once there is a key, or the gateway is back, the file is opened anew.
      if (isToldByFrame(error)) return;
      state.set({ ...state.get(), error: wordError(error) });
    }
    if (leaving.signal.aborted) return;
    waiting = true;
    if (!document.hidden) timer = setTimeout(turn, everyMs);
  };
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (waiting && !document.hidden) void turn();
  };
  document.addEventListener('visibilitychange', onVisibility);
  void turn();
  return {
    state,
    stop() {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
};

const isToldByFrame = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 0);
