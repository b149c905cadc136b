import { ScrollRegion } from '../../parts/layout/scroll-region.tsx';
import { classNames } from '../../parts/text/class-names.ts';
import type { DiffRow } from './diff-values.ts';

const signs = { same: ' ', added: '+', removed: '−', 'left-out': ' ' } as const;

/** Shows a JSON diff. */
export const DiffView = ({ label, rows }: { readonly label: string; readonly rows: readonly DiffRow[] }) =>
  rows.every(({ kind }) => kind === 'same' || kind === 'left-out') ? (
    <p className="soft">No changes.</p>
  ) : (
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
