import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { navigate } from '../router/route.ts';
import { classNames } from './class-names.ts';
import './data-table.css';
import { ScrollRegion } from './scroll-region.tsx';

/** A column of a table. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Aligns the column to the right. */
  readonly numeric?: boolean;
  /** The tooltip of the heading. */
  readonly about?: string;
  /** Hidden on narrow pages. */
  readonly wideOnly?: boolean;
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
  empty,
  tone,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The link of a row, made by `href`; `undefined`: none. */
  readonly open?: (row: Row) => string | undefined;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
  /** The colour of a row. */
  readonly tone?: (row: Row) => 'bad' | undefined;
}) => {
  const body = useRef<HTMLTableSectionElement>(null);
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
      <table className="data">
        <thead>
          <tr>
            {columns.map(({ name, title, about, numeric, wideOnly }) => (
              <th key={name} scope="col" title={about} className={cellClass(numeric, wideOnly)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          {rows.map((row) => {
            const to = open?.(row);
            return (
              <tr
                key={rowKey(row)}
                className={classNames(to !== undefined && 'data-open', tone?.(row) && `data-${tone(row)}`)}
                onClick={(event) => {
                  const onLink = event.target instanceof Element && event.target.closest('a, button');
                  if (to !== undefined && !onLink && window.getSelection()?.isCollapsed !== false) navigate(to);
                }}
              >
                {columns.map(({ name, title, cell, numeric, wideOnly }, index) => (
                  <td key={name} data-title={title} className={cellClass(numeric, wideOnly)}>
                    {index === 0 && to !== undefined ? (
                      <a className="data-link" href={to}>
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
        </tbody>
      </table>
    </ScrollRegion>
  );
};

const cellClass = (numeric = false, wideOnly = false): string | undefined =>
  classNames(numeric && 'number', wideOnly && 'data-wide') || undefined;
