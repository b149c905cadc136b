import type { TransformerEntry } from '../../../api/config/config.ts';
import { type Entry, entryOf, knownOf, writtenOf } from '../../../config/draft/entry.ts';
import { indexIn } from '../../../config/fields/field-path.ts';
import { useForm } from '../../../config/fields/form.ts';
import { moveTexts } from '../../../config/fields/unreadable-texts.ts';
import { useWanted } from '../../../config/fields/wanted-field.ts';
import { SelectField } from '../../../parts/controls/field.tsx';
import { SortableList } from '../../../parts/controls/sortable-list.tsx';
import { useOpenRows, useRows } from '../../../state/use-rows.ts';
import { useRoutingLists } from '../use-routing-config.ts';
import type { Trial } from '../use-trial.ts';
import { EntryForm } from './entry-form.tsx';
import { EntryHead } from './entry-head.tsx';
import { StageEffect } from './stage-effect.tsx';
import { StarterFile } from './starter-file.tsx';

/** The transformers in the order in which requests pass them. */
export const StagesEditor = ({ trial }: { readonly trial: Trial }) => {
  const { transformers } = useForm();
  const { stages: list, set: setList } = useRoutingLists();
  const rows = useRows(list, (next) => setList('stages', next));
  const { open, show } = useOpenRows();
  useWanted(['transformers'], (path) => show(rows.keys[indexIn(path)], true));
  const move = (from: number, to: number): void => {
    const places = list.map((_, at) => at);
    const order = places.toSpliced(from, 1).toSpliced(to, 0, from);
    moveTexts('transformers', (at) => order.indexOf(at));
    rows.move(from, to);
  };
  const remove = (at: number): void => {
    moveTexts('transformers', (one) => (one === at ? undefined : one > at ? one - 1 : one));
    rows.remove(at);
  };
  const offers = transformers.filter(({ kind }) => kind === 'stage');
  const added: Readonly<Record<string, TransformerEntry>> = { module: { path: '' }, format: { name: '' } };
  return (
    <div className="stack">
      <p className="soft">
        Requests pass the stages from top to bottom, answers from bottom to top. A format is always next to the
        provider.
      </p>
      <SortableList
        label="Transformers"
        rows={list.map((written, at) => {
          const key = rows.keys[at] ?? at;
          const entry = entryOf(written);
          const known = knownOf(entry, transformers);
          const set = (next: Entry): void => rows.set(at, writtenOf(next, written));
          return {
            key,
            name: entry.name ?? entry.path ?? 'the new transformer',
            path: `transformers[${at}]`,
            open: open.has(key),
            onToggle: () => show(key, !open.has(key)),
            head: <EntryHead entry={entry} at={at} known={known} />,
            body: (
              <div className="stack">
                <EntryForm entry={entry} at={at} known={known} transformers={transformers} onChange={set} />
                {entry.path !== undefined && known?.state !== 'loaded' && <StarterFile path={entry.path} />}
                {known?.kind !== 'format' && (
                  <StageEffect at={at} trial={trial} isAround={known?.halves.around === true} />
                )}
              </div>
            ),
          };
        })}
        onMove={move}
        onRemove={remove}
      />
      <SelectField
        label="Add a transformer"
        value=""
        options={[
          { value: '', label: 'Choose …' },
          { value: 'module', label: 'Custom module: a file of your own' },
          ...offers.map(({ name, about }) => ({ value: `stage ${name}`, label: about ? `${name}: ${about}` : name })),
          { value: 'format', label: 'Format: a provider’s API, where its base URL does not determine it' },
        ]}
        hint="Added last, next to the provider. Move it where you need it."
        onChange={(picked) => {
          if (picked !== '') show(rows.add(added[picked] ?? picked.slice('stage '.length)), true);
        }}
      />
    </div>
  );
};
