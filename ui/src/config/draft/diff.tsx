import { useMemo, useState } from 'react';
import { counted } from '../../format/count.ts';
import { Button } from '../../parts/controls/button.tsx';
import { type DiffLine, diffLines } from './diff-lines.ts';
import './diff.css';

/** How many unchanged lines are shown around a change. */
const around = 3;

const marks = { same: ' ', removed: '−', added: '+' } as const;
const words = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** A line-by-line diff of two texts; unchanged parts are folded. */
export const Diff = ({
  label,
  before,
  after,
}: {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}) => {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const removed = lines.filter(({ kind }) => kind === 'removed').length;
  const added = lines.filter(({ kind }) => kind === 'added').length;
  if (removed + added === 0) return <p className="soft">{label}: no differences.</p>;
  const shown = all ? lines.map((line, index) => ({ line, index })) : nearChanges(lines);
  return (
    <figure className="diff">
      <figcaption className="diff-head">
        <span>{label}</span>
        <span className="soft">
          {counted(removed, 'line')} removed, {added} added
        </span>
        {(all || shown.length < lines.length) && (
          <Button look="quiet" onClick={() => setAll(!all)}>
            {all ? 'Changes only' : 'Show all'}
          </Button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions need keyboard access */}
      <section className="diff-lines" aria-label={label} tabIndex={0}>
        {shown.map(({ line, index }, position) => (
          <div key={index}>
            {index > (shown[position - 1]?.index ?? -1) + 1 && <div className="diff-gap">⋯</div>}
            <div className={`diff-line diff-${line.kind}`}>
              <span className="diff-mark" aria-hidden="true">
                {marks[line.kind]}
              </span>
              <span className="unseen">{words[line.kind]}</span>
              <span className="diff-text">{line.text}</span>
            </div>
          </div>
        ))}
      </section>
    </figure>
  );
};

const nearChanges = (lines: readonly DiffLine[]): readonly { readonly line: DiffLine; readonly index: number }[] => {
  const near = new Set<number>();
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return;
    for (let at = index - around; at <= index + around; at += 1) near.add(at);
  });
  return lines.flatMap((line, index) => (near.has(index) ? [{ line, index }] : []));
};
