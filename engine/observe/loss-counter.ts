import type { Loss } from '../model/loss.ts';
import { fieldPattern, plainPath } from '../model/wire/client-paths.ts';
import type { LossCounter } from './observer.ts';

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
