import { fieldPattern, plainPath } from './field-pattern.ts';
import type { Loss } from './model/loss.ts';

/** How often one step couldn't carry one field. */
export interface LossSeries {
  /** The step that couldn't: a format's, protocol's or stage's name. */
  readonly stage: string;
  /** The field's path without indices; `other` for all that came when there were too many to tell apart. */
  readonly field: string;
  readonly count: number;
}

/** Counts losses for as long as the service runs. */
export interface LossCounter {
  readonly count: (losses: readonly Loss[]) => void;
  /** In the order in which they first came. */
  readonly series: () => readonly LossSeries[];
}

/** Clients choose the names of fields, so neither their number nor their length has a bound of its own. */
const defaultMost = 500;
const mostCharacters = 100;
const other = 'other';

/** A counter with at most `most` series, and one more for each stage. */
export const createLossCounter = (most = defaultMost): LossCounter => {
  const stages = new Map<string, Map<string, number>>();
  let known = 0;
  const add = ({ step, path }: Loss): void => {
    const fields = stages.get(step) ?? new Map<string, number>();
    stages.set(step, fields);
    const pattern = plainPath(fieldPattern(path)).slice(0, mostCharacters);
    const isNew = !fields.has(pattern);
    const field = isNew && known >= most ? other : pattern;
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
