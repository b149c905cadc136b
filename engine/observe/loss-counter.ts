import type { Loss } from '../model/loss.ts';
import { fieldPattern, plainPath } from '../model/wire/client-paths.ts';

/** How often one step couldn't carry over one field. */
export interface LossSeries {
  /** The name of the format, protocol or stage. */
  readonly stage: string;
  /** The field's path without indices; `other` for further fields once the table is full. */
  readonly field: string;
  readonly count: number;
}

/** Counts losses over the service's lifetime. */
export interface LossCounter {
  readonly count: (losses: readonly Loss[]) => void;
  /** In order of first occurrence. */
  readonly series: () => readonly LossSeries[];
}

/** Bounds, since clients choose the names of fields. */
const defaultMaxSeries = 500;
const maxCharacters = 100;
const other = 'other';

/** Creates a counter with at most `maxSeries` series, plus one for each stage. */
export const createLossCounter = (maxSeries = defaultMaxSeries): LossCounter => {
  const stages = new Map<string, Map<string, number>>();
  let known = 0;
  const add = ({ step, path }: Loss): void => {
    const fields = stages.get(step) ?? new Map<string, number>();
    stages.set(step, fields);
    const pattern = plainPath(fieldPattern(path)).slice(0, maxCharacters);
    const isNew = !fields.has(pattern);
    const field = isNew && known >= maxSeries ? other : pattern;
    if (isNew && field === pattern) known += 1;
    fields.set(field, (fields.get(field) ?? 0) + 1);
  };
  return {
    count(losses) {
      for (const loss of losses) add(loss);
    },
    series: () =>
      [...stages].flatMap(([stage, fields]) => [...fields].map(([field, count]) => ({ stage, field, count }))),
  };
};
