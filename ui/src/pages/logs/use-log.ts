import { useEffect, useMemo, useState } from 'react';
import { connection } from '../../api/connection.ts';
import { keyState } from '../../api/key.ts';
import { createStore, useStore } from '../../state/store.ts';
import { LogBook, type LogView } from './log-book.ts';
import { filterRecords, type LogFilter } from './log-filter.ts';
import { followLog, type TailState } from './log-tail.ts';

/** A log file that is followed while the component is mounted. */
export interface OpenLog {
  readonly view: LogView;
  readonly tail: TailState;
  /** All lines, filtered or not. */
  readonly lines: () => string[];
}

/** Opens a log and filters it. */
export const useLog = (file: string, { level, text, request, withoutOwn }: LogFilter): OpenLog => {
  const { key } = useStore(keyState);
  const { revision } = useStore(connection);
  const passes = useMemo(() => filterRecords({ level, text, request, withoutOwn }), [level, text, request, withoutOwn]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each file has its own book; filters are applied to it below
  const book = useMemo(() => new LogBook(passes), [file]);
  const [tail, setTail] = useState(() => notRead);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key or connection reopens the file
  useEffect(() => {
    book.clear();
    const { state, stop } = followLog(file, book);
    setTail(() => state);
    return stop;
  }, [file, book, key, revision]);
  useEffect(() => book.filter(passes), [book, passes]);
  return { view: useStore(book.view), tail: useStore(tail), lines: () => book.lines() };
};

const notRead = createStore<TailState>({ loaded: false, omitted: 0, error: undefined });
