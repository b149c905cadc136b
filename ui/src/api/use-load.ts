import { useCallback, useEffect, useState } from 'react';
import { useStore } from '../state/store.ts';
import { ApiError, isAbort, wordError } from './api-error.ts';
import { connection } from './connection.ts';
import { keyState } from './key.ts';

/** The requested data, as far as it is loaded. */
export interface Loaded<T> {
  /** The newest that came; stays while a later attempt fails. */
  readonly data: T | undefined;
  /** Why the newest attempt failed. A missing key and a gateway that doesn't answer aren't told here: the page's frame does. */
  readonly error: string | undefined;
  readonly loading: boolean;
  /** Asks once more, now. */
  readonly reload: () => void;
}

/** An endpoint, ready to be asked. */
type Load<T> = (signal: AbortSignal) => Promise<T>;

interface State<T> {
  readonly load: Load<T>;
  readonly data?: T | undefined;
  readonly error?: string | undefined;
}

/**
 * Asks `load` (keep it stable: `useCallback`), again when another one is given, the key or the connection changed, and, with
 * `everyMs`, so long after each answer; not while the tab is hidden or `isOn` is false. What is under way is given up when the
 * component goes.
 */
export const useLoad = <T>(load: Load<T>, everyMs?: number, isOn = true): Loaded<T> => {
  const [state, setState] = useState<State<T>>({ load });
  const [loading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const { revision } = useStore(connection);
  const { key } = useStore(keyState);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key, connection or turn is a reason to ask again
  useEffect(() => {
    if (!isOn) return undefined;
    const leaving = new AbortController();
    let timer: number | undefined;
    let waiting = false;
    const ask = async (): Promise<void> => {
      waiting = false;
      setLoading(true);
      const next = await load(leaving.signal).then(
        (data) => ({ data }),
        (error: unknown) => ({ error }),
      );
      if (leaving.signal.aborted) return;
      setLoading(false);
      if ('data' in next) setState({ load, data: next.data });
      else
        setState((before) => ({ load, data: before.load === load ? before.data : undefined, error: word(next.error) }));
      if (everyMs !== undefined && !isKeyMissing('error' in next ? next.error : undefined)) later();
    };
    const later = (): void => {
      waiting = true;
      if (!document.hidden) timer = window.setTimeout(ask, everyMs);
    };
    const onVisibility = (): void => {
      window.clearTimeout(timer);
      if (waiting && !document.hidden) void ask();
    };
    document.addEventListener('visibilitychange', onVisibility);
    void ask();
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [load, everyMs, isOn, turn, revision, key]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const current = state.load === load ? state : undefined;
  return { data: current?.data, error: current?.error, loading, reload };
};

const isKeyMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

const isUnanswered = (error: unknown): boolean => error instanceof ApiError && error.status === 0;

const word = (error: unknown): string | undefined =>
  isKeyMissing(error) || isUnanswered(error) || isAbort(error) ? undefined : wordError(error);
