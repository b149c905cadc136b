import { useMemo } from 'react';
import type { Json } from '../../api/json.ts';
import { classNames } from '../class-names.ts';
import { ScrollRegion } from '../layout/scroll-region.tsx';
import './diff.css';
import { diffValues } from './diff-values.ts';

const signs = { same: ' ', added: '+', removed: '−', 'left-out': ' ' } as const;

/** Shows how two JSON values differ. */
export const DiffView = ({
  label,
  before,
  after,
}: {
  readonly label: string;
  readonly before: Json;
  readonly after: Json;
}) => {
  const rows = useMemo(() => diffValues(before, after), [before, after]);
  if (rows.every(({ kind }) => kind === 'same' || kind === 'left-out')) return <p className="soft">No changes.</p>;
  return (
    <ScrollRegion className="diff" label={label}>
      {rows.map(({ kind, depth, text }, index) => {
        const Line = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'div';
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no ids; the list never changes
          <Line key={index} className={classNames('diff-line', `diff-${kind}`)}>
            <span className="diff-sign" aria-hidden="true">
              {signs[kind]}
            </span>
            <span style={{ paddingInlineStart: `${depth * 1.2}em` }}>{text}</span>
          </Line>
        );
      })}
    </ScrollRegion>
  );
};
