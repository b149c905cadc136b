/**
 * Token counts of one answer. The three input counts are disjoint; their sum is the whole prompt.
 * A count that the upstream didn't report is `undefined`, never 0.
 */
export interface Usage {
  /** Input tokens neither read from nor written to a cache. */
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number | undefined;
  /** All output tokens, reasoning included. */
  readonly output?: number | undefined;
  /** The part of `output` spent on reasoning. */
  readonly reasoning?: number | undefined;
  /** Web searches that the upstream ran. */
  readonly webSearches?: number | undefined;
  /** The service tier that the upstream reports. */
  readonly serviceTier?: string | undefined;
}

/** Merges two reports: each count of `later` overrides that of `earlier`. */
export const mergeUsage = (earlier: Usage, later: Usage): Usage => {
  const merged: Record<string, unknown> = { ...earlier };
  let name: keyof Usage;
  for (name in later) if (later[name] !== undefined) merged[name] = later[name];
  return merged;
};

/** All prompt tokens, cached or not. */
export const promptTokens = (usage: Usage): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);
