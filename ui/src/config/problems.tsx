import type { Finding } from '../api/config/config.ts';
import { counted, sentence } from '../format/figures.ts';
import { Icon } from '../parts/controls/button.tsx';
import { Badge } from '../parts/text/badge.tsx';
import { isWithin } from './fields/field-path.ts';
import { useForm } from './fields/form.ts';
import { goToField } from './fields/wanted-field.ts';

/** Lists problems and warnings of a draft; each links to its field. */
export const Problems = ({
  faults,
  warnings,
}: {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}) => (
  <div className="problems">
    {faults.length > 0 && <List kind="failed" title="Fix before saving" findings={faults} />}
    {warnings.length > 0 && (
      <details>
        <summary className="soft small">{counted(warnings.length, 'warning')}</summary>
        <List kind="warn" title="Warnings" findings={warnings} />
      </details>
    )}
  </div>
);

/** Number of findings at and below a path, for the head of its row. */
export const FindingsBadge = ({ path }: { readonly path: string }) => {
  const { faults, warnings } = useForm();
  const problems = faults.filter((one) => isWithin(one.path, path)).length;
  const hints = warnings.filter((one) => isWithin(one.path, path)).length;
  if (problems > 0) return <Badge tone="bad">{counted(problems, 'problem')}</Badge>;
  return hints > 0 && <Badge tone="warn">{counted(hints, 'warning')}</Badge>;
};

const List = ({
  kind,
  title,
  findings,
}: {
  readonly kind: 'failed' | 'warn';
  readonly title: string;
  readonly findings: readonly Finding[];
}) => (
  <ul className={`problem-list problem-${kind}`} aria-label={title}>
    {findings.map(({ path, message }) => (
      <li key={`${path} ${message}`}>
        <Icon name={kind} />
        {path === '' ? (
          <span>{sentence(message)}</span>
        ) : (
          <span>
            <button type="button" className="link mono" onClick={() => goToField(path)}>
              {path}
            </button>{' '}
            {message}
          </span>
        )}
      </li>
    ))}
  </ul>
);
