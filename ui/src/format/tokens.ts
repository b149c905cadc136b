import { shortCount } from './count.ts';

/** `12.3K (10K) → 400`: input, of which cached, and output. Absent counts are 0. */
export const tokens = ({
  input = 0,
  cacheRead = 0,
  cacheWrite = 0,
  output = 0,
}: {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}): string => {
  const cached = cacheRead > 0 ? ` (${shortCount(cacheRead)})` : '';
  return `${shortCount(input + cacheRead + cacheWrite)}${cached} → ${shortCount(output)}`;
};
