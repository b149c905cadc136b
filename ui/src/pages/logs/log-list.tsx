import { type KeyboardEvent, useId } from 'react';
import { counted } from '../../format/figures.ts';
import { classNames } from '../../parts/class-names.ts';
import { Button } from '../../parts/controls/button.tsx';
import type { LogView } from './log-book.ts';
import type { LogRecord } from './log-record.ts';
import { LogRow } from './log-row.tsx';
import type { Selection } from './selection.ts';
import { rowPx, useWindow } from './use-window.ts';

/** The list of records; only visible rows are rendered. Source of the keys: WAI-ARIA Authoring Practices, "Grid". */
export const LogList = ({
  label,
  view,
  selection,
  onSelect,
}: {
  readonly label: string;
  readonly view: LogView;
  readonly selection: Selection | undefined;
  /** Must be stable: rows are memoized. */
  readonly onSelect: (selection: Selection) => void;
}) => {
  const id = useId();
  const { shown, length, busy } = view;
  const { ref, onScroll, from, to, page, following, missed, reveal, follow } = useWindow(view);
  const at = selection ? indexOf(view, selection.record) : -1;
  const rows = shown.slice(from, to);

  const go = (index: number): void => {
    const record = shown[Math.max(0, Math.min(length - 1, index))];
    if (!record) return;
    reveal(indexOf(view, record));
    onSelect({ record, open: selection?.open ?? false });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== event.currentTarget) return;
    const start = at < 0 ? (following ? length : from - 1) : at;
    const target = {
      ArrowDown: start + 1,
      ArrowUp: start - 1,
      PageDown: start + page,
      PageUp: start - page,
      Home: 0,
      End: length - 1,
    }[event.key];
    if (target !== undefined) go(target);
    else if (event.key === 'Enter' && selection) onSelect({ ...selection, open: !selection.open });
    else if (event.key === 'Escape' && selection?.open) onSelect({ ...selection, open: false });
    else return;
    event.preventDefault();
  };
  const isDrawn = at >= from && at < to;
  return (
    <div className="log-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a table would need rows that aren't rendered */}
      <div
        ref={ref}
        className="log-scroll"
        role="grid"
        aria-label={label}
        aria-rowcount={length}
        aria-busy={busy}
        aria-activedescendant={isDrawn ? `${id}-${selection?.record.n}` : undefined}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div className="log-all" role="presentation" style={{ height: length * rowPx }}>
          <div className="log-drawn" role="presentation" style={{ transform: `translateY(${from * rowPx}px)` }}>
            {rows.map((record, index) => (
              <LogRow
                key={record.n}
                id={`${id}-${record.n}`}
                record={record}
                number={from + index + 1}
                active={record.n === selection?.record.n}
                onSelect={onSelect}
              />
            ))}
          </div>
        </div>
      </div>
      {!following && length > 0 && (
        <Button className={classNames('log-newest', missed > 0 && 'log-missed')} icon="down" onClick={follow}>
          {missed > 0 ? `Jump to newest (${counted(missed, 'new record')})` : 'Jump to newest'}
        </Button>
      )}
    </div>
  );
};

/** Binary search: records are sorted by number. */
const indexOf = ({ shown, length }: LogView, { n }: LogRecord): number => {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle]?.n ?? n) < n) low = middle + 1;
    else high = middle;
  }
  return low < length && shown[low]?.n === n ? low : -1;
};
