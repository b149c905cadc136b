import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { LogView } from './log-book.ts';

/** A row's height in pixels. It is fixed, so that offsets can be computed. */
export const rowPx = 26;

/** Rows rendered beyond each edge, so that short scrolls show no gap. */
const spareRows = 12;

/** The rendered part of a long list. */
interface ListWindow {
  /** For the scrolling element. */
  readonly ref: (element: HTMLElement | null) => (() => void) | undefined;
  readonly onScroll: () => void;
  /** Indices of the first rendered row, and of the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Rows that fit into the element. */
  readonly page: number;
  /** The list follows its end. */
  readonly following: boolean;
  /** Records added since it stopped following. */
  readonly missed: number;
  /** Scrolls a row into view. */
  readonly reveal: (index: number) => void;
  readonly follow: () => void;
}

/** Renders a window of a long list. It follows the end until the user scrolls up. */
export const useWindow = ({ length, shownDropped }: LogView): ListWindow => {
  const element = useRef<HTMLElement>(null);
  const [first, setFirst] = useState(0);
  const [page, setPage] = useState(1);
  // Where the list ended when following stopped; `undefined` while following.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the list's length and the element's height
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    if (following) box.scrollTop = box.scrollHeight;
    // Visible rows stay in place when older records are discarded.
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
  // The end is known before its scroll event arrives.
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
