import type { TransformerEntry } from '../../api/config/config.ts';
import { ConfigPage } from '../../config/config-page.tsx';
import { type Entry, entryOf, knownOf, writtenOf } from '../../config/draft/entry.ts';
import { moveTexts } from '../../config/draft/unreadable-texts.ts';
import { useForm } from '../../config/fields/form.ts';
import { useWanted } from '../../config/fields/wanted-field.ts';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { Empty } from '../../parts/layout/empty.tsx';
import { useOpenRows, useRows } from '../../state/use-rows.ts';
import { AddTransformer } from './add-transformer.tsx';
import { EntryForm } from './entry-form.tsx';
import { EntryHead } from './entry-head.tsx';
import './transformers.css';

/** The transformers page. */
export const Transformers = () => (
  <ConfigPage
    title="Transformers"
    about="Stages between client and provider. Requests pass them from top to bottom, responses from bottom to top. A format is always next to the provider."
  >
    <EntryList />
  </ConfigPage>
);

const none: readonly TransformerEntry[] = [];

const EntryList = () => {
  const { config, change, transformers } = useForm();
  const list = config.transformers ?? none;
  const rows = useRows(list, (next) => change((before) => ({ ...before, transformers: next })));
  const { open, show } = useOpenRows();
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
  return (
    <>
      {list.length === 0 && (
        <Empty title="No transformers">
          Requests go to providers without stages, in the format determined by each provider’s base URL.
        </Empty>
      )}
      {list.map((_, at) => (
        <WantedRow key={rows.keys[at]} path={`transformers[${at}]`} show={() => show(rows.keys[at], true)} />
      ))}
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
            body: <EntryForm entry={entry} at={at} known={known} transformers={transformers} onChange={set} />,
          };
        })}
        onMove={move}
        onRemove={remove}
      />
      <AddTransformer transformers={transformers} onAdd={(entry) => show(rows.add(entry), true)} />
    </>
  );
};

/** Opens the row of the field to focus. */
const WantedRow = ({ path, show }: { readonly path: string; readonly show: () => void }) => {
  useWanted(path, show);
  return null;
};
