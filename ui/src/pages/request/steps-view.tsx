import { useMemo, useState } from 'react';
import { isJsonObject, type Json, parseJson } from '../../api/json.ts';
import type { Capture, Loss } from '../../api/requests/requests.ts';
import { counted, duration } from '../../format/figures.ts';
import { Segmented } from '../../parts/controls/segmented.tsx';
import { DiffView } from '../../parts/diff/diff-view.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Badge } from '../../parts/text/badge.tsx';

interface StepRow {
  readonly title: string;
  readonly about: string;
  readonly ms: number;
  readonly losses: readonly Loss[];
  readonly before: Json;
  readonly after: Json;
  /** Both sides have the same format, so that they can be compared. */
  readonly comparable: boolean;
  readonly kind: Capture['steps'][number]['kind'];
}

/** Shows the request before and after each step, and what changed; of a request that was tried again, an attempt's at a time. */
export const StepsView = ({ capture }: { readonly capture: Capture }) => {
  const attempts = useMemo(() => attemptsOf(rowsOf(capture)), [capture]);
  const [attempt, setAttempt] = useState(String(attempts.length));
  const rows = attempts[Number(attempt) - 1] ?? [];
  return (
    <>
      {attempts.length > 1 && (
        <Segmented
          label="Attempt"
          value={attempt}
          onChange={setAttempt}
          options={attempts.map((_, at) => ({ value: String(at + 1), label: `Attempt ${at + 1}` }))}
        />
      )}
      <Steps key={attempt} rows={rows} />
    </>
  );
};

const Steps = ({ rows }: { readonly rows: readonly StepRow[] }) => {
  const [picked, setPicked] = useState(() => firstChange(rows));
  const row = rows[picked] ?? rows[0];
  if (!row) return <Notice>The request could not be decoded, so no step ran.</Notice>;
  return (
    <div className="steps">
      <ol className="bare">
        {rows.map(({ title, about, ms, losses, before, after, comparable }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stage may come twice; the list never changes
          <li key={index}>
            <button type="button" className="step" aria-pressed={index === picked} onClick={() => setPicked(index)}>
              <span className="step-title">{title}</span>
              <span className="soft small">{about}</span>
              <span className="row small">
                <span className="soft">{duration(ms)}</span>
                {comparable && <ChangeBadge before={before} after={after} />}
                {losses.length > 0 && <Badge tone="warn">{counted(losses.length, 'loss', 'losses')}</Badge>}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <StepDetail key={picked} row={row} />
    </div>
  );
};

/** The first step that changed something, or the first. */
const firstChange = (rows: readonly StepRow[]): number =>
  Math.max(
    0,
    rows.findIndex((row) => row.losses.length > 0 || (row.comparable && hasChanged(row))),
  );

const hasChanged = ({ before, after }: Pick<StepRow, 'before' | 'after'>): boolean =>
  JSON.stringify(before) !== JSON.stringify(after);

const ChangeBadge = (row: Pick<StepRow, 'before' | 'after'>) =>
  hasChanged(row) ? <Badge tone="accent">changed</Badge> : <Badge>no change</Badge>;

type Form = 'changes' | 'before' | 'after';

const StepDetail = ({ row }: { readonly row: StepRow }) => {
  const [form, setForm] = useState<Form>(row.comparable ? 'changes' : 'after');
  const text = useMemo(
    () => (form === 'changes' ? '' : JSON.stringify(form === 'before' ? row.before : row.after, null, 2)),
    [form, row],
  );
  return (
    <Panel
      title={row.title}
      about={row.about}
      actions={
        <Segmented
          label="View"
          value={form}
          onChange={setForm}
          options={[
            ...(row.comparable ? [{ value: 'changes', label: 'Changes' } as const] : []),
            { value: 'before', label: 'Before' },
            { value: 'after', label: 'After' },
          ]}
        />
      }
    >
      {row.losses.map(({ step, field, action, note }) => (
        <Notice key={`${step} ${field}`} kind="warn">
          <code>{field}</code> was {action}
          {note && `: ${note}`}.
        </Notice>
      ))}
      {row.after === null && <Notice>Too large to be recorded.</Notice>}
      {form === 'changes' ? (
        <DiffView label={`Changes by ${row.title}`} before={row.before} after={row.after} />
      ) : (
        <JsonEditor label={`${row.title}, ${form}`} value={text} maxLines={40} />
      )}
    </Panel>
  );
};

const abouts = {
  decode: 'decodes the client’s body',
  route: 'picks the destination',
  stage: 'transformer',
  encode: 'encodes the provider’s body',
} as const;

/** The steps of each attempt, which begins with the choice of a destination; what came before the first belongs to all. */
const attemptsOf = (rows: readonly StepRow[]): readonly (readonly StepRow[])[] => {
  const starts = rows.flatMap(({ kind }, at) => (kind === 'route' ? [at] : []));
  if (starts.length < 2) return [rows];
  const before = rows.slice(0, starts[0]);
  return starts.map((start, at) => {
    const [route, ...others] = rows.slice(start, starts[at + 1]);
    const again =
      at > 0 && route ? { ...route, about: 'waits after the attempt before, and picks the destination' } : route;
    return [...before, ...(again ? [again] : []), ...others];
  });
};

const rowsOf = ({ client, steps }: Capture): readonly StepRow[] => {
  const first = steps.findIndex(({ kind }) => kind === 'route');
  return steps.map(({ name, kind, ms, losses, request }, index) => {
    // Each attempt begins with the request as it was decoded.
    const at = kind === 'route' ? first : index;
    const before = at === 0 ? (parseJson(client.body) ?? client.body) : (steps[at - 1]?.request ?? null);
    return {
      title: kind === 'encode' ? `encode (${name})` : name,
      about: abouts[kind],
      kind,
      ms,
      losses,
      before,
      after: request,
      comparable: kind !== 'decode' && kind !== 'encode' && isJsonObject(before) && isJsonObject(request),
    };
  });
};
