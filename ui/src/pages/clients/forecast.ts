const dayMs = 86_400_000;

/** The part of a budget's period that must be known. */
const leastKnown = 0.1;

/**
 * When a budget is used up, in milliseconds since 1970, at the rate since its period, or the client's first use in it, began.
 * `undefined`: not before it is renewed, or less than a tenth of the period is known.
 */
export const usedUpAt = (
  { per, renewsAt }: { readonly per: 'day' | 'month'; readonly renewsAt: string },
  /** The part that is used. */
  share: number,
  firstUseMs: number,
  nowMs: number,
): number | undefined => {
  const endMs = Date.parse(renewsAt);
  const end = new Date(endMs);
  const beginMs = per === 'day' ? endMs - dayMs : end.setUTCMonth(end.getUTCMonth() - 1);
  const knownMs = nowMs - Math.max(beginMs, firstUseMs);
  if (share <= 0 || share >= 1 || knownMs < (endMs - beginMs) * leastKnown) return undefined;
  const atMs = nowMs + (knownMs * (1 - share)) / share;
  return atMs < endMs ? atMs : undefined;
};
