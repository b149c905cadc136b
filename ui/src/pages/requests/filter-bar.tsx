import { type ReactNode, useRef } from 'react';
import type { HistoryFacets } from '../../api/requests/history.ts';
import { count, counted, duration, usd } from '../../format/figures.ts';
import { classNames } from '../../parts/class-names.ts';
import { Button } from '../../parts/controls/button.tsx';
import { SelectField, TextField } from '../../parts/controls/field.tsx';
import { FilterChips } from '../../parts/table/filter-chips.tsx';
import type { Tone } from '../../parts/text/badge.tsx';
import { changeQuery } from '../../router/route.ts';
import { useShortcut } from '../../state/shortcuts.ts';
import { filterNames, givenIn, type RequestFilter } from './request-filter.ts';
import { spans } from './spans.ts';

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

/** The facets of requests, with how many each value leaves beside the other filters, and chips of what else is filtered by. */
export const RequestFacets = ({
  filter,
  facets,
  titles,
}: {
  readonly filter: RequestFilter;
  readonly facets: HistoryFacets | undefined;
  /** Of sessions. */
  readonly titles: ReadonlyMap<string, string>;
}) => {
  const chips = chipsOf(filter, facets);
  return (
    <>
      <FilterChips
        label="Filters"
        chips={chips.map(({ name, value, label, count: of, tone }) => ({
          key: `${name} ${value}`,
          label,
          count: of,
          ...(tone && { tone }),
          on: filter[name] === value,
        }))}
        onToggle={(key, on) => {
          const chip = chips.find(({ name, value }) => `${name} ${value}` === key);
          if (chip) changeQuery({ [chip.name]: on ? chip.value : '' });
        }}
      />
      {selects.map(({ name, title, optionsOf }) => {
        const options = optionsOf(facets?.facets[name] ?? none, titles);
        const own = filter[name];
        const isListed = own === '' || own === 'failed' || options.some(({ value }) => value === own);
        const all = [{ value: '', label: title }, ...(isListed ? [] : [{ value: own, label: own }]), ...options];
        return all.length < 3 && own === '' ? null : (
          <SelectField
            key={name}
            label={title}
            unlabelled
            className={classNames('request-facet', own !== '' && own !== 'failed' && 'request-facet-on')}
            value={own === 'failed' ? '' : own}
            options={all}
            onChange={(value) => changeQuery({ [name]: value })}
          />
        );
      })}
      {Object.keys(givenIn(filter)).length > 1 && (
        <Button look="quiet" onClick={() => changeQuery(noQuery)}>
          Clear filters
        </Button>
      )}
    </>
  );
};

/** The query of a list without filters. */
export const noQuery = Object.fromEntries(filterNames.map((name) => [name, '']));

type Facet = HistoryFacets['facets']['model'];

const none: Facet = [];

/** The most frequent values first. */
const byValue = (list: Facet) => list.map(({ value, requests }) => ({ value, label: `${value} (${count(requests)})` }));

/** The most frequent sessions by their titles, where these are known. */
const bySession = (list: Facet, titles: ReadonlyMap<string, string>) =>
  list.map(({ value, requests }) => ({ value, label: `${titles.get(value) ?? value} (${count(requests)})` }));

/** Least values, with how many requests reach each. */
const byLeast = (format: (value: number) => string) => (list: Facet) =>
  list.flatMap(({ value }, at) => {
    const reach = list.slice(at).reduce((sum, { requests }) => sum + requests, 0);
    return Number(value) > 0 ? [{ value: `${value}-`, label: `≥ ${format(Number(value))} (${count(reach)})` }] : [];
  });

const selects = [
  { name: 'model', title: 'Model', optionsOf: byValue },
  { name: 'provider', title: 'Provider', optionsOf: byValue },
  { name: 'client', title: 'Client', optionsOf: byValue },
  { name: 'session', title: 'Session', optionsOf: bySession },
  { name: 'status', title: 'Status', optionsOf: byValue },
  { name: 'duration', title: 'Duration', optionsOf: byLeast(duration) },
  { name: 'firstByte', title: 'First byte', optionsOf: byLeast(duration) },
  { name: 'cost', title: 'Cost', optionsOf: byLeast(usd) },
  { name: 'tools', title: 'Tools', optionsOf: byLeast((value) => counted(value, 'tool')) },
] as const;

const spanText = ({ from, to }: RequestFilter): string =>
  [from !== '' && `from ${from}`, to !== '' && `to ${to}`].filter(Boolean).join(' ').slice(0, 60);

const chipsOf = (filter: RequestFilter, facets: HistoryFacets | undefined): readonly Chip[] => {
  const chips: Chip[] = [{ name: 'status', value: 'failed', label: 'Failed', count: facets?.failed, tone: 'bad' }];
  if (facets?.lossy || filter.lossy !== '')
    chips.push({ name: 'lossy', value: 'true', label: 'Lossy', count: facets?.lossy });
  // What the address filters by, and nothing else shows, can be taken away.
  for (const [name, title] of [
    ['scenario', 'rule'],
    ['preset', 'preset'],
  ] as const) {
    const value = filter[name];
    if (value !== '') chips.push({ name, value, label: `${title} ${value}` });
  }
  return chips;
};
