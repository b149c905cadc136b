import { useState } from 'react';
import type { KeptRequest } from '../../api/requests/history.ts';
import { useRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { isoTime, localTime } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import '../../parts/table/filters.css';
import { type HistoryFilter, noFilter } from './history-address.ts';

/** The fields of a search. It begins when the form is submitted, since it reads files. */
export const SearchForm = ({
  filter,
  requests,
  onSearch,
}: {
  /** The search whose requests are shown. */
  readonly filter: HistoryFilter;
  readonly requests: readonly KeptRequest[];
  readonly onSearch: (filter: HistoryFilter) => void;
}) => {
  const [draft, setDraft] = useState(filter);
  const recent = useRecentRequests().data?.requests ?? [];
  const known = [...recent, ...requests];
  const set = (part: Partial<HistoryFilter>): void => setDraft({ ...draft, ...part });
  const span = spanOf(draft);
  return (
    <search>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(draft);
        }}
      >
        <TextField
          className="filters-text"
          label="Text"
          type="search"
          placeholder="Id, model, path, error"
          value={draft.text}
          onChange={(text) => set({ text })}
        />
        <SelectField
          label="Time"
          value={span}
          options={spans}
          onChange={(next) => set(next === 'between' ? { from: dayAgo(), to: '' } : { from: next, to: '' })}
        />
        {span === 'between' && (
          <>
            <TextField
              label="From"
              type="datetime-local"
              value={localTime(draft.from)}
              onChange={(text) => set({ from: isoTime(text) })}
            />
            <TextField
              label="To"
              type="datetime-local"
              value={localTime(draft.to)}
              onChange={(text) => set({ to: isoTime(text) })}
            />
          </>
        )}
        <ComboField
          label="Model"
          value={draft.model}
          options={namesIn(known.flatMap(({ model, asked }) => [model, asked]))}
          onChange={(model) => set({ model })}
        />
        <ComboField
          label="Provider"
          value={draft.provider}
          options={namesIn(known.map(({ provider }) => provider))}
          onChange={(provider) => set({ provider })}
        />
        <ComboField label="Status" value={draft.status} options={statuses} onChange={(status) => set({ status })} />
        <ComboField
          label="Client"
          value={draft.client}
          options={namesIn(known.map(({ client }) => client))}
          onChange={(client) => set({ client })}
        />
        <ComboField
          label="Session"
          value={draft.session}
          options={namesIn(known.map(({ session }) => session))}
          onChange={(session) => set({ session })}
        />
        <Button type="submit" look="primary" icon="search">
          Search
        </Button>
        <Button look="quiet" onClick={() => onSearch(noFilter)}>
          Reset
        </Button>
      </form>
    </search>
  );
};

/** How far a search goes back; `between`: from one time to another. */
const spans = [
  { value: '', label: 'All' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: 'between', label: 'Between two times' },
] as const;

const spanOf = ({ from, to }: HistoryFilter) =>
  (to === '' && spans.find(({ value }) => value === from)?.value) || (from === '' && to === '' ? '' : 'between');

const dayAgo = (): string => new Date(Date.now() - 86_400_000).toISOString();

const statuses = [
  { value: 'ok', note: 'Succeeded' },
  { value: 'failed', note: 'Errors, and answers that broke off' },
  { value: '4xx' },
  { value: '5xx' },
  { value: '429', note: 'Rate limits' },
  { value: '499', note: 'Client disconnected' },
];

const namesIn = (names: readonly (string | undefined)[]) =>
  [...new Set(names)]
    .flatMap((value) => (value === undefined || value === '' ? [] : [{ value }]))
    .toSorted((one, other) => one.value.localeCompare(other.value));
