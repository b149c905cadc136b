import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { connection } from '../../api/connection.ts';
import { keyState } from '../../api/key.ts';
import { useFeed } from '../../api/requests/use-feed.ts';
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
  /** Reads what is new. */
  readonly look: () => void;
}

/** Opens a log and filters it. */
export const useLog = (file: string, { level, text, request, minutes, withoutOwn }: LogFilter): OpenLog => {
  const { key } = useStore(keyState);
  const { revision } = useStore(connection);
  const passes = useMemo(
    () => filterRecords({ level, text, request, minutes, withoutOwn }),
    [level, text, request, minutes, withoutOwn],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: each file has its own book; filters are applied to it below
  const book = useMemo(() => new LogBook(passes), [file]);
  const [tail, setTail] = useState(() => notRead);
  const followed = useRef<ReturnType<typeof followLog>>(undefined);
  const look = useCallback(() => followed.current?.look(), []);
  const feed = useFeed({ topics: 'log', file }, look);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key or connection reopens the file
  useEffect(() => {
    book.clear();
    const opened = followLog(file, book);
    followed.current = opened;
    setTail(() => opened.state);
    return opened.stop;
  }, [file, book, key, revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each file that is opened is told
  useEffect(() => followed.current?.poll(feed === 'missing'), [feed, file, book, key, revision]);
  useEffect(() => book.filter(passes), [book, passes]);
  return { view: useStore(book.view), tail: useStore(tail), lines: () => book.lines(), look };
};

const notRead = createStore<TailState>({ loaded: false, omitted: 0, error: undefined });
