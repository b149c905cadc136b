import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import './sortable-list.css';

/** A row of a sortable list. */
export interface SortableRow {
  /** Stable when the row moves. */
  readonly key: string | number;
  /** What the row is, for screen readers. */
  readonly name: string;
  readonly head: ReactNode;
  /** Shown below the head while the row is open. */
  readonly body?: ReactNode;
  readonly open?: boolean;
  readonly onToggle?: () => void;
  /** Its path in the configuration. */
  readonly path?: string;
}

/** A list that is sorted by dragging, by buttons, or by Alt and an arrow key. Screen readers announce each move. */
export const SortableList = ({
  label,
  rows,
  onMove,
  onRemove,
}: {
  readonly label: string;
  readonly rows: readonly SortableRow[];
  readonly onMove: (from: number, to: number) => void;
  readonly onRemove: (at: number) => void;
}) => {
  const id = useId();
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
    if (to < 0 || to >= rows.length || from === to) return;
    if (control !== undefined) refocus.current = { at: to, control };
    onMove(from, to);
    setSaid(`${rows[from]?.name ?? ''} moved to position ${to + 1} of ${rows.length}.`);
  };
  const onKeyDown = (event: KeyboardEvent, at: number): void => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined || !event.altKey) return;
    event.preventDefault();
    const control = event.target instanceof HTMLElement ? event.target.dataset.control : undefined;
    move(at, at + step, control ?? 'name');
  };

  return (
    <div className="sortable">
      <ol ref={list} className="sortable-rows" aria-label={label}>
        {rows.map(({ key, name, head, body, open = false, onToggle, path }, at) => (
          <li
            key={key}
            className={classNames(
              'sortable-row',
              dragged === at && 'sortable-dragged',
              over === at &&
                dragged !== undefined &&
                dragged !== at &&
                (dragged < at ? 'sortable-after' : 'sortable-before'),
            )}
            onKeyDown={(event) => onKeyDown(event, at)}
            onDragOver={(event) => {
              if (dragged === undefined) return;
              event.preventDefault();
              setOver(at);
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== undefined) move(dragged, at);
              setDragged(undefined);
            }}
          >
            <div className="sortable-head">
              {/* biome-ignore lint/a11y/noStaticElementInteractions: for pointers only; buttons and keys do the same */}
              <span
                className="sortable-grip"
                title="Drag to reorder, or press Alt and an arrow key"
                draggable
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = 'move';
                  event.dataTransfer.setData('text/plain', name);
                  const row = event.currentTarget.closest('li');
                  if (row) event.dataTransfer.setDragImage(row, 12, 12);
                  setDragged(at);
                }}
                onDragEnd={() => {
                  setDragged(undefined);
                  setOver(undefined);
                }}
              >
                <Icon name="grip" />
              </span>
              {onToggle ? (
                <button
                  type="button"
                  className="sortable-name"
                  data-control="name"
                  data-path={path}
                  aria-expanded={open}
                  aria-controls={open ? `${id}-${key}` : undefined}
                  onClick={onToggle}
                >
                  <Icon name={open ? 'down' : 'right'} />
                  <span className="sortable-title">{head}</span>
                </button>
              ) : (
                <div className="sortable-title">{head}</div>
              )}
              <span className="sortable-buttons">
                <IconButton
                  icon="up"
                  label={`Move ${name} up`}
                  data-control="up"
                  disabled={at === 0}
                  onClick={() => move(at, at - 1, 'up')}
                />
                <IconButton
                  icon="down"
                  label={`Move ${name} down`}
                  data-control="down"
                  disabled={at === rows.length - 1}
                  onClick={() => move(at, at + 1, 'down')}
                />
                <IconButton
                  icon="remove"
                  label={`Remove ${name}`}
                  data-control="remove"
                  onClick={() => {
                    if (rows.length > 1) refocus.current = { at: Math.min(at, rows.length - 2), control: 'name' };
                    onRemove(at);
                    setSaid(`${name} removed.`);
                  }}
                />
              </span>
            </div>
            {open && body !== undefined && (
              <div id={`${id}-${key}`} className="sortable-body">
                {body}
              </div>
            )}
          </li>
        ))}
      </ol>
      <p className="unseen" role="status">
        {said}
      </p>
    </div>
  );
};
