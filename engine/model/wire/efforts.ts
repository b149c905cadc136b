import type { Effort, Reasoning, WireFormat } from '../request.ts';

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

/** Whether an effort is above what clients of a wire format ask for by default: in Messages, that is `high`. */
export const isAboveUsual = (effort: Effort, wire: WireFormat | undefined): boolean =>
  effort === 'high' ? wire !== 'messages' : effort === 'xhigh' || effort === 'max';

/** The settings around an effort that only a turn sets: in no other format can one. */
export const aroundTurnEffort: Reasoning = { wire: 'messages' };
