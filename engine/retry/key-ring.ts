/** Why a key rests. */
export type RestReason = 'limited' | 'refused' | 'forbidden';

/** A key that is left alone for a while. */
export interface Rest {
  readonly why: RestReason;
  /** In milliseconds of the service's clock. */
  readonly untilMs: number;
}

/** Why a key rests at this time; `undefined` for one that doesn't. */
export type RestOf = (key: string) => Rest | undefined;

/** Which key a request takes. */
export interface KeyChoice {
  readonly key: string;
  /** Every key rests; this one for the shortest time. */
  readonly rest: Rest | undefined;
}

/** The preferred key, else the next one of those that don't rest, else the one that wakes first. `from` is where the search begins. */
export const chooseKey = (
  keys: readonly string[],
  restOf: RestOf,
  from: number,
  preferred: string | undefined,
): KeyChoice => {
  if (preferred !== undefined && keys.includes(preferred) && restOf(preferred) === undefined) {
    return { key: preferred, rest: undefined };
  }
  let soonest: KeyChoice | undefined;
  for (let step = 0; step < keys.length; step += 1) {
    const key = keys[(from + step) % keys.length] ?? '';
    const rest = restOf(key);
    if (rest === undefined) return { key, rest };
    if (soonest?.rest === undefined || rest.untilMs < soonest.rest.untilMs) soonest = { key, rest };
  }
  return soonest ?? { key: '', rest: undefined };
};
