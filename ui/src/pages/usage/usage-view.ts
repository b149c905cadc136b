import type { ChartStep, UsageGroup } from '../../api/usage.ts';
import { href } from '../../router/route.ts';

/** A span up to now. */
interface Range {
  /** As the address has it, and the service takes it. */
  readonly name: string;
  readonly title: string;
  /** The chart's. */
  readonly step: ChartStep;
}

const usualRange: Range = { name: '7d', title: '7 days', step: 'hour' };

export const ranges: readonly Range[] = [
  { name: '1h', title: '1 hour', step: 'minute' },
  { name: '6h', title: '6 hours', step: 'minute' },
  { name: '24h', title: '24 hours', step: 'hour' },
  usualRange,
  { name: '30d', title: '30 days', step: 'day' },
  { name: '365d', title: 'A year', step: 'month' },
];

export const groups: readonly { readonly value: UsageGroup; readonly label: string }[] = [
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'client', label: 'Client' },
  { value: 'scenario', label: 'Scenario' },
  { value: 'protocol', label: 'Client protocol' },
];

/** What the page shows. */
interface UsageView {
  readonly range: Range;
  readonly by: UsageGroup;
}

/** The view of an address. */
export const usageViewOf = (query: URLSearchParams): UsageView => ({
  range: ranges.find(({ name }) => name === query.get('range')) ?? usualRange,
  by: groups.find(({ value }) => value === query.get('by'))?.value ?? 'model',
});

/** The address of a view. */
export const usageAddress = ({ range, by }: { readonly range: string; readonly by: UsageGroup }): string =>
  `${href('/usage')}?${new URLSearchParams({ range, by })}`;

/** What is known of a sum of which parts may be unknown. */
export const atLeast = (sum: number, unknown: number, format: (value: number) => string): string => {
  if (unknown === 0) return format(sum);
  return sum === 0 ? '–' : `≥ ${format(sum)}`;
};
