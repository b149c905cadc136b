import { type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';

/** Callbacks of a sortable list. */
interface SortingOptions {
  /** Names of the rows, for screen readers. */
  readonly names: readonly string[];
  readonly onMove: (from: number, to: number) => void;
  readonly onRemove: (at: number) => void;
}

/** The state of a list that is sorted by dragging, buttons or keys. */
export type Sorting = ReturnType<typeof useSorting>;

/** Moves and removes rows, keeps the focus on the control that was used, and words each change for screen readers. */
export const useSorting = ({ names, onMove, onRemove }: SortingOptions) => {
  const list = useRef<HTMLOListElement>(null);
  const refocus = useRef<{ readonly at: number; readonly control: string }>(undefined);
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const [said, setSaid] = useState('');

  useEffect(() => {
    const wish = refocus.current;
    if (!wish) return;
    refocus.current = undefined;
    const row = list.current?.children.item(wish.at);
    const control = row?.querySelector<HTMLElement>(`[data-control="${wish.control}"]:not(:disabled)`);
    (control ?? row?.querySelector<HTMLElement>('[data-control]:not(:disabled)'))?.focus();
  });

  const move = (from: number, to: number, control?: string): void => {
    if (to < 0 || to >= names.length || from === to) return;
    if (control !== undefined) refocus.current = { at: to, control };
    onMove(from, to);
    setSaid(`${names[from] ?? ''} moved to position ${to + 1} of ${names.length}.`);
  };
  const remove = (at: number): void => {
    if (names.length > 1) refocus.current = { at: Math.min(at, names.length - 2), control: 'name' };
    onRemove(at);
    setSaid(`${names[at] ?? ''} removed.`);
  };
  return {
    list,
    said,
    move,
    remove,
    isDragged: (at: number): boolean => dragged === at,
    /** The side of this row on which a dragged one would be dropped. */
    dropSide: (at: number): 'before' | 'after' | undefined => {
      if (over !== at || dragged === undefined || dragged === at) return undefined;
      return dragged < at ? 'after' : 'before';
    },
    rowEvents: (at: number) => ({
      onKeyDown: (event: KeyboardEvent): void => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (step === undefined || !event.altKey) return;
        event.preventDefault();
        const control = event.target instanceof HTMLElement ? event.target.dataset.control : undefined;
        move(at, at + step, control ?? 'name');
      },
      onDragOver: (event: DragEvent): void => {
        if (dragged === undefined) return;
        event.preventDefault();
        setOver(at);
      },
      onDrop: (event: DragEvent): void => {
        event.preventDefault();
        if (dragged !== undefined) move(dragged, at);
        setDragged(undefined);
      },
    }),
    gripEvents: (at: number) => ({
      onDragStart: (event: DragEvent): void => {
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', names[at] ?? '');
        const row = event.currentTarget.closest('li');
        if (row) event.dataTransfer.setDragImage(row, 12, 12);
        setDragged(at);
      },
      onDragEnd: (): void => {
        setDragged(undefined);
        setOver(undefined);
      },
    }),
  };
};
