import { type ReactNode, useRef } from 'react';
import type { HistoryCounts } from '../../api/requests/history.ts';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import { FilterChips } from '../../parts/table/filter-chips.tsx';
import type { Tone } from '../../parts/text/badge.tsx';
import { changeQuery } from '../../router/route.ts';
import { useShortcut } from '../../state/shortcuts.ts';
import type { RequestFilter } from './request-filter.ts';
import { spans } from './spans.ts';

/** How many names of a kind have a chip. */
const mostNames = 3;

interface Chip {
  readonly name: keyof RequestFilter;
  readonly value: string;
  readonly label: string;
  readonly count?: number | undefined;
  readonly tone?: Tone;
}

/** The filters of the list, which the address keeps: text, time, and chips. */
export const FilterBar = ({
  filter,
  noSpan,
  children,
}: {
  readonly filter: RequestFilter;
  /** The span where the address has none. */
  readonly noSpan: '' | '24h';
  /** The chips. */
  readonly children: ReactNode;
}) => {
  const bar = useRef<HTMLElement>(null);
  useShortcut('/', 'Filter by a text', () => bar.current?.querySelector('input')?.focus());
  const from = filter.from || noSpan;
  const span = filter.to === '' ? spans.find(({ value }) => value === from) : undefined;
  const known = spans.filter(({ value }) => value !== '' || noSpan === '');
  return (
    <search ref={bar} className="request-filters">
      <TextField
        className="request-text"
        label="Filter"
        unlabelled
        type="search"
        placeholder="Filter by text"
        value={filter.text}
        onChange={(text) => changeQuery({ text })}
      />
      <SelectField
        label="Time"
        unlabelled
        value={span?.value ?? 'own'}
        options={span ? known : [{ value: 'own', label: spanText(filter) }, ...known]}
        onChange={(next) => next !== 'own' && changeQuery({ from: next === noSpan ? '' : next, to: '' })}
      />
      {children}
    </search>
  );
};

/** The chips of requests, with how many each leaves. */
export const RequestChips = ({
  filter,
  counts,
}: {
  readonly filter: RequestFilter;
  readonly counts: HistoryCounts | undefined;
}) => {
  const chips = chipsOf(filter, counts);
  return (
    <FilterChips
      label="Filters"
      chips={chips.map(({ name, value, label, count, tone }) => ({
        key: `${name} ${value}`,
        label,
        count,
        ...(tone && { tone }),
        on: filter[name] === value,
      }))}
      onToggle={(key, on) => {
        const chip = chips.find(({ name, value }) => `${name} ${value}` === key);
        if (chip) changeQuery({ [chip.name]: on ? chip.value : '' });
      }}
    />
  );
};

const spanText = ({ from, to }: RequestFilter): string =>
  [from !== '' && `from ${from}`, to !== '' && `to ${to}`].filter(Boolean).join(' ').slice(0, 60);

const chipsOf = (filter: RequestFilter, counts: HistoryCounts | undefined): readonly Chip[] => {
  const chips: Chip[] = [{ name: 'status', value: 'failed', label: 'Failed', count: counts?.failed, tone: 'bad' }];
  for (const [value, count] of mostOf(counts?.statuses)) chips.push({ name: 'status', value, label: value, count });
  if (counts?.lossy || filter.lossy !== '')
    chips.push({ name: 'lossy', value: 'true', label: 'Lossy', count: counts?.lossy });
  for (const [value, count] of mostOf(counts?.clients)) chips.push({ name: 'client', value, label: value, count });
  const providers = Object.keys(counts?.providers ?? {});
  if (providers.length > 1)
    for (const [value, count] of mostOf(counts?.providers))
      chips.push({ name: 'provider', value, label: value, count });
  // What the address filters by can be taken away, whether it is one of the most frequent or not.
  for (const name of ['status', 'client', 'provider', 'model', 'scenario', 'session'] as const) {
    const value = filter[name];
    const isThere = chips.some((one) => one.name === name && one.value === value);
    if (value !== '' && !isThere) chips.push({ name, value, label: `${titles[name]} ${value}` });
  }
  return chips;
};

const titles = {
  status: 'status',
  client: 'client',
  provider: 'provider',
  model: 'model',
  scenario: 'rule',
  session: 'session',
} as const;

const mostOf = (counts: Readonly<Record<string, number>> = {}): readonly (readonly [string, number])[] =>
  Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, mostNames);
