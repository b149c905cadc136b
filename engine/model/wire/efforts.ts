import type { Effort } from '../request.ts';

/** All efforts, from the lowest to the highest. */
const order = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];

/** A value for every effort. */
export type EffortWords = Readonly<Record<Effort, Effort>>;

/**
 * For every effort, the nearest of those that a model or host accepts; of two that are equally near, the higher one. `none` is
 * only taken for `none`: a request to reason stays one.
 */
export const nearestEfforts = (...accepted: readonly [Effort, ...Effort[]]): EffortWords => {
  const nearest = (effort: Effort): Effort => {
    const least = effort === 'none' ? order : order.slice(1);
    const candidates = least.filter((one) => accepted.includes(one));
    const place = order.indexOf(effort);
    const distance = (one: Effort): number => Math.abs(order.indexOf(one) - place);
    return candidates.reduce(
      (best, one) => (distance(one) <= distance(best) ? one : best),
      candidates[0] ?? accepted[0],
    );
  };
  return {
    none: nearest('none'),
    minimal: nearest('minimal'),
    low: nearest('low'),
    medium: nearest('medium'),
    high: nearest('high'),
    xhigh: nearest('xhigh'),
    max: nearest('max'),
  };
};
