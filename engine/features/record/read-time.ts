const dayMs = 86_400_000;
const agoPattern = /^(\d{1,5})([mhd])$/;
const agoMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: dayMs };
const timePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/;

/** Reads a time or how long ago it was, in milliseconds since 1970. `undefined`: the text is neither. */
export const readTime = (text: string, nowMs: number): number | undefined => {
  const [, amount, unit] = agoPattern.exec(text) ?? [];
  if (amount !== undefined) return Math.max(0, nowMs - Number(amount) * (agoMs[unit ?? ''] ?? dayMs));
  const atMs = timePattern.test(text) ? Date.parse(text) : Number.NaN;
  return atMs >= 0 ? atMs : undefined;
};
