import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { navigate } from '../../router/route.ts';
import { classNames } from '../class-names.ts';
import './data-table.css';
import { ScrollRegion } from '../layout/scroll-region.tsx';

/** A column of a table. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Its cells are the links to the rows' pages; by default the first column's are. */
  readonly isLink?: boolean;
  /** Aligns the column to the right. */
  readonly numeric?: boolean;
  /** The tooltip of the heading. */
  readonly about?: string;
  /** Of a table of lines: its width. Columns without one share the rest. */
  readonly width?: string;
  /** Hidden on narrow pages. */
  readonly wideOnly?: boolean;
  /** Its heading sorts by it. */
  readonly sorts?: boolean;
}

/**
 * A table. With `open`, rows are links to their own pages, and the arrow keys move between them. On narrow pages rows become
 * cards.
 */
export const DataTable = <Row,>({
  label,
  columns,
  rows,
  rowKey,
  open,
  current,
  empty,
  lines = false,
  sort,
  onSort,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The link of a row, made by `href`; `undefined`: none. */
  readonly open?: (row: Row) => string | undefined;
  /** Marks the row that was opened last. */
  readonly current?: (row: Row) => boolean;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
  /** One line of one height a row: what is longer is cut. */
  readonly lines?: boolean;
  /** The column that is sorted by, the highest first. */
  readonly sort?: string;
  /** Sorts by a column; an empty text, as before. */
  readonly onSort?: (name: string) => void;
}) => {
  const body = useRef<HTMLTableSectionElement>(null);
  const linked = columns.find(({ isLink }) => isLink) ?? columns[0];
  const { shown, before, after, measure } = useShownRows(rows, body);
  if (rows.length === 0) return <>{empty}</>;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links: readonly (Element | null)[] = [...(body.current?.querySelectorAll('.data-link') ?? [])];
    const at = links.indexOf(document.activeElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    const next = links[at + step];
    if (next instanceof HTMLElement) next.focus();
  };
  return (
    <ScrollRegion className="data-frame" label={label}>
      <table className={classNames('data', lines && 'data-lines')}>
        <thead>
          <tr>
            {columns.map(({ name, title, about, numeric, wideOnly, width, sorts }) => (
              <th
                key={name}
                scope="col"
                title={about}
                className={cellClass(numeric, wideOnly)}
                style={{ width }}
                aria-sort={sort === name ? 'descending' : undefined}
              >
                {sorts && onSort ? (
                  <button type="button" className="data-sort" onClick={() => onSort(sort === name ? '' : name)}>
                    {title}
                    {sort === name && ' ↓'}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          <Gap height={before} />
          {shown.map(([index, row]) => {
            const to = open?.(row);
            const isCurrent = current?.(row) === true;
            return (
              <tr
                key={rowKey(row)}
                ref={measure}
                data-index={index}
                className={classNames(to !== undefined && 'data-open', isCurrent && 'data-current')}
                onClick={({ target }) => {
                  const onLink = target instanceof Element && target.closest('a, button');
                  if (to !== undefined && !onLink && window.getSelection()?.isCollapsed !== false) navigate(to);
                }}
              >
                {columns.map(({ name, title, cell, numeric, wideOnly }) => (
                  <td key={name} data-column={name} data-title={title} className={cellClass(numeric, wideOnly)}>
                    {name === linked?.name && to !== undefined ? (
                      <a className="data-link" href={to} aria-current={isCurrent || undefined}>
                        {cell(row)}
                      </a>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap height={after} />
        </tbody>
      </table>
    </ScrollRegion>
  );
};

/** Longer tables render only what is near the window. */
const wholeTable = 60;

/** A row's height before it was rendered, in pixels. */
const usualRowPx = 32;

/** The rows to render, by their index, and the heights of what is left out before and after them, in pixels. */
const useShownRows = <Row,>(rows: readonly Row[], body: RefObject<HTMLTableSectionElement | null>) => {
  const [top, setTop] = useState(0);
  const isLong = rows.length > wholeTable;
  useLayoutEffect(() => {
    const box = body.current?.getBoundingClientRect();
    if (isLong && box) setTop(Math.round(box.top + window.scrollY));
  });
  const virtual = useWindowVirtualizer({
    count: isLong ? rows.length : 0,
    estimateSize: () => usualRowPx,
    overscan: 12,
    scrollMargin: top,
  });
  if (!isLong) return { shown: [...rows.entries()], before: 0, after: 0, measure: undefined };
  const items = virtual.getVirtualItems();
  return {
    shown: items.flatMap(({ index }): readonly (readonly [number, Row])[] => {
      const row = rows[index];
      return row === undefined ? [] : [[index, row]];
    }),
    before: (items[0]?.start ?? top) - top,
    after: virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
    measure: virtual.measureElement,
  };
};

/** Rows that aren't rendered, as one of their height. */
const Gap = ({ height }: { readonly height: number }) =>
  height > 0 && (
    <tr className="data-gap">
      <td style={{ height }} />
    </tr>
  );

const cellClass = (numeric = false, wideOnly = false): string | undefined =>
  classNames(numeric && 'number', wideOnly && 'data-wide') || undefined;
