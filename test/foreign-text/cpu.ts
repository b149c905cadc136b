/** What a single reading of 100 KB of foreign text may cost, in milliseconds of CPU. */
export const mostMs = 20;

/** The length that is fed, in characters. */
export const fedLength = 100_000;

/** What takes so many times longer than wanted isn't tried again: neither threads nor other processes add that much. */
const hopelessTimes = 10;

/** So often work is timed, and so often if it takes too long each time: beside others, a processor may do half as much at once. */
const usualTries = 5;
const longTries = 25;

/**
 * The CPU time of `work` in milliseconds: the least of several tries, since a busy machine and the compiler's threads only add to it.
 * Stops as soon as one is below `enoughMs`, or far above, or after `mostTries`. `prepare` isn't counted.
 */
export const cpuMs = <T>(
  prepare: () => T,
  work: (prepared: T) => unknown,
  enoughMs = mostMs / 4,
  mostTries = longTries,
): number => {
  let least = Number.POSITIVE_INFINITY;
  const tooLong = Math.max(enoughMs, mostMs);
  const hopelessMs = hopelessTimes * tooLong;
  for (let tries = 0; tries < Math.min(mostTries, least < tooLong ? usualTries : longTries); tries += 1) {
    const prepared = prepare();
    const before = process.cpuUsage();
    work(prepared);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    least = Math.min(least, ms);
    if (least <= enoughMs || ms >= hopelessMs) break;
  }
  return least;
};

/** Lengths up to `last` that grow slowly at first: what takes exponential time is found before it hangs. */
export const lengthsUpTo = (last: number): readonly number[] =>
  [16, 24, 32, 64, 128, 512, 2048, 8192, 32_768, last].filter((length) => length <= last);

/** Text of a length, made so that it is one flat string: V8 joins lazily otherwise, and the reading would pay for that. */
export const flat = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** Four times as much of anything may take some four times as long; what takes sixteen times as long is quadratic. */
const mostTimes = 8;
/** Processes beside it share caches and memory, which costs many more than few; quadratic time shows in every round. */
const mostRounds = 3;

/** What `growsLinearly` found. */
interface Growth {
  readonly linear: boolean;
  /** The times of each round, in words. */
  readonly seen: string;
}

/**
 * Compares the time for `few` with that for four times as many. `prepare` makes that many of what `work` reads; what is done
 * within `soonMs` isn't looked at more closely. The first round measures each once, which is enough for nearly all; the further
 * rounds take the least of several tries.
 */
export const growsLinearly = <T>(
  prepare: (count: number) => T,
  work: (prepared: T) => unknown,
  { few, soonMs }: { readonly few: number; readonly soonMs: number },
): Growth => {
  const many = 4 * few;
  const seen: string[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const msFor = (count: number): number =>
      cpuMs(() => prepare(count), work, round === 0 ? Number.POSITIVE_INFINITY : soonMs);
    const manyMs = msFor(many);
    if (manyMs <= soonMs) return { linear: true, seen: seen.join('; ') };
    const fewMs = msFor(few);
    seen.push(`${few} take ${fewMs} ms, ${many} take ${manyMs} ms`);
    if (manyMs < mostTimes * fewMs) return { linear: true, seen: seen.join('; ') };
  }
  return { linear: false, seen: seen.join('; ') };
};
