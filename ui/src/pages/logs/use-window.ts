import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { LogView } from './log-book.ts';

/** A row's height in pixels; all are the same, so that any place of a long list is found without drawing the others. */
export const rowPx = 26;

/** Rows drawn beyond each edge: a scroll by a few rows shows them at once. */
const spareRows = 12;

/** The part of a long list that is drawn. */
interface ListWindow {
  /** For the element that scrolls. */
  readonly ref: (element: HTMLElement | null) => (() => void) | undefined;
  readonly onScroll: () => void;
  /** Index of the first row that is drawn, and the one behind the last. */
  readonly from: number;
  readonly to: number;
  /** Rows that fit in the element. */
  readonly page: number;
  /** The newest row is in sight and stays so. */
  readonly following: boolean;
  /** Records that came since it no longer is. */
  readonly missed: number;
  /** Scrolls as little as needed to show a row. */
  readonly reveal: (index: number) => void;
  readonly follow: () => void;
}

/** Follows the scrolling of a list of rows. The end stays in sight until somebody scrolls up. */
export const useWindow = ({ length, shownDropped }: LogView): ListWindow => {
  const element = useRef<HTMLElement>(null);
  const [first, setFirst] = useState(0);
  const [page, setPage] = useState(1);
  // Where the list ended when it was left; none while its end is followed.
  const [leftAt, setLeftAt] = useState<number>();
  const end = length + shownDropped;
  const latest = useRef(end);
  latest.current = end;
  const droppedBefore = useRef(shownDropped);

  const onScroll = useCallback(() => {
    const box = element.current;
    if (!box) return;
    setFirst(Math.floor(box.scrollTop / rowPx));
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < rowPx;
    setLeftAt((before) => (isAtEnd ? undefined : (before ?? latest.current)));
  }, []);
  const ref = useCallback((box: HTMLElement | null) => {
    element.current = box;
    if (!box) return undefined;
    const resized = new ResizeObserver(() => setPage(Math.max(1, Math.floor(box.clientHeight / rowPx))));
    resized.observe(box);
    return () => resized.disconnect();
  }, []);

  const following = leftAt === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a longer list, or a lower element, has its end elsewhere
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    if (following) box.scrollTop = box.scrollHeight;
    // What is looked at stays where it is when older records are let go.
    else box.scrollTop -= (shownDropped - droppedBefore.current) * rowPx;
    droppedBefore.current = shownDropped;
  }, [length, shownDropped, following, page]);

  const reveal = useCallback((index: number) => {
    const box = element.current;
    if (!box) return;
    const top = index * rowPx;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowPx > box.scrollTop + box.clientHeight) box.scrollTop = top + rowPx - box.clientHeight;
  }, []);
  // The end is known before its scroll event comes.
  const top = following ? length - page : Math.min(first, length - page);
  const from = Math.max(0, top - spareRows);
  return {
    ref,
    onScroll,
    from,
    to: Math.min(length, from + page + 2 * spareRows + 1),
    page,
    following,
    missed: leftAt === undefined ? 0 : Math.max(0, end - leftAt),
    reveal,
    follow: () => setLeftAt(undefined),
  };
};
