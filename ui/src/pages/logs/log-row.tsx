import { memo, type ReactNode } from 'react';
import { parseObject } from '../../api/json.ts';
import { classNames } from '../../parts/class-names.ts';
import { href } from '../../router/route.ts';
import { briefOf, type LogRecord, levelName } from './log-record.ts';
import type { Selection } from './selection.ts';
import { stampOf } from './stamp-of.ts';

/** One record as a row. */
export const LogRow = memo(
  ({
    id,
    record,
    number,
    active,
    onSelect,
  }: {
    readonly id: string;
    readonly record: LogRecord;
    /** Row number, from 1. */
    readonly number: number;
    readonly active: boolean;
    readonly onSelect: (selection: Selection) => void;
  }) => {
    const fields = parseObject(record.line);
    const level = levelName(record.level);
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the list, which keeps the focus
      // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
      // biome-ignore lint/a11y/useSemanticElements: rows of a virtual list
      <div
        id={id}
        className={classNames('log-row', `log-${level}`)}
        role="row"
        aria-rowindex={number}
        aria-selected={active}
        onClick={(event) => {
          if (!(event.target instanceof Element && event.target.closest('a'))) onSelect({ record, open: true });
        }}
      >
        <Cell name="time">{stampOf(fields?.time)}</Cell>
        <Cell name="level">{level}</Cell>
        <Cell name="text">
          {typeof fields?.msg === 'string' ? fields.msg : record.line}{' '}
          <span className="log-brief soft mono">{fields && briefOf(fields)}</span>
        </Cell>
        <Cell name="request">
          {typeof fields?.requestId === 'string' && (
            <a href={href('/requests', fields.requestId)} tabIndex={-1}>
              {fields.requestId}
            </a>
          )}
        </Cell>
      </div>
    );
  },
);

const Cell = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/useSemanticElements: see the row
  // biome-ignore lint/a11y/useFocusableInteractive: see the row
  <span role="gridcell" className={`log-cell log-${name}`}>
    {children}
  </span>
);
