import { type ReactNode, useId } from 'react';
import { classNames } from '../class-names.ts';
import { Icon, IconButton } from './button.tsx';
import './sortable-list.css';
import { type Sorting, useSorting } from './use-sorting.ts';

/** A row of a sortable list. */
interface SortableRow {
  /** Stable when the row moves. */
  readonly key: string | number;
  /** The row's label, for screen readers. */
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
  const sorting = useSorting({ names: rows.map(({ name }) => name), onMove, onRemove });
  return (
    <div>
      <ol ref={sorting.list} className="sortable" aria-label={label}>
        {rows.map((row, at) => {
          const { key, body, open = false } = row;
          const bodyId = `${id}-${key}`;
          const side = sorting.dropSide(at);
          return (
            <li
              key={key}
              className={classNames(
                'sortable-row',
                sorting.isDragged(at) && 'sortable-dragged',
                side !== undefined && `sortable-${side}`,
              )}
              {...sorting.rowEvents(at)}
            >
              <div className="sortable-head">
                <span
                  className="sortable-grip"
                  title="Drag to reorder, or press Alt and an arrow key"
                  draggable
                  {...sorting.gripEvents(at)}
                >
                  <Icon name="grip" />
                </span>
                <RowTitle row={row} bodyId={bodyId} />
                <RowButtons name={row.name} at={at} count={rows.length} sorting={sorting} />
              </div>
              {open && body !== undefined && (
                <div id={bodyId} className="stack sortable-body">
                  {body}
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <p className="unseen" role="status">
        {sorting.said}
      </p>
    </div>
  );
};

const RowTitle = ({ row, bodyId }: { readonly row: SortableRow; readonly bodyId: string }) => {
  const { head, open = false, onToggle, path } = row;
  if (!onToggle) return <div className="sortable-title">{head}</div>;
  return (
    <button
      type="button"
      className="sortable-name"
      data-control="name"
      data-path={path}
      aria-expanded={open}
      aria-controls={open ? bodyId : undefined}
      onClick={onToggle}
    >
      <Icon name={open ? 'down' : 'right'} />
      <span className="sortable-title">{head}</span>
    </button>
  );
};

const RowButtons = ({
  name,
  at,
  count,
  sorting,
}: {
  readonly name: string;
  readonly at: number;
  readonly count: number;
  readonly sorting: Sorting;
}) => (
  <span className="sortable-buttons">
    <IconButton
      icon="up"
      label={`Move ${name} up`}
      data-control="up"
      disabled={at === 0}
      onClick={() => sorting.move(at, at - 1, 'up')}
    />
    <IconButton
      icon="down"
      label={`Move ${name} down`}
      data-control="down"
      disabled={at === count - 1}
      onClick={() => sorting.move(at, at + 1, 'down')}
    />
    <IconButton icon="remove" label={`Remove ${name}`} data-control="remove" onClick={() => sorting.remove(at)} />
  </span>
);
