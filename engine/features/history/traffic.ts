import type { ClientWire } from '../../model/wire/client-wires.ts';
import type { Activity, HourFigures } from '../record/schema.ts';
import { TimeScale } from '../record/series.ts';
import type { LineMinute, TrafficCounts } from './questions.ts';

/** The length of a step, in milliseconds, and how many are kept: an hour. */
const stepMs = 5_000;
const maxSteps = 720;

/** Times to the first byte, from 1 ms to 1,000 s. */
const scale = new TimeScale(1, 4, 6);

/** Began, ended, failed; then the classes of times. */
const began = 0;
const ended = 1;
const failed = 2;
const firstClass = 3;
const width = firstClass + scale.classes;

/** How far back rates look, in seconds, and how many lines have one. */
export const rateSeconds = 10;
const slots = 16;
const maxLines = 1_000;

/** A ring of counters by second. */
class SecondRing {
  readonly #counts = new Uint32Array(slots);
  readonly #seconds = new Float64Array(slots);

  add(second: number): void {
    const at = second % slots;
    if (this.#seconds[at] !== second) {
      this.#seconds[at] = second;
      this.#counts[at] = 0;
    }
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** The sum of the last seconds up to `now`, which isn't over. */
  since(now: number): number {
    let sum = 0;
    for (let at = 0; at < slots; at += 1) {
      const age = now - (this.#seconds[at] ?? 0);
      if (age >= 0 && age < rateSeconds) sum += this.#counts[at] ?? 0;
    }
    return sum;
  }
}

/** What is counted of one client protocol's requests to one model. */
interface Line {
  readonly protocol: ClientWire;
  readonly provider: string;
  readonly model: string;
  readonly seconds: SecondRing;
  readonly minutes: MinuteRing;
}

/** Counts requests by time, in memory of a fixed size. Times are in milliseconds since 1970. */
export class Traffic {
  readonly #counts = new Uint32Array(maxSteps * width);
  readonly #steps = new Float64Array(maxSteps);
  readonly #lines = new Map<string, Line>();

  /** A request was routed at this time. */
  began(atMs: number, wire: ClientWire, provider: string, model: string): void {
    this.#add(atMs, began);
    const line = this.#line(wire, provider, model);
    line.seconds.add(Math.floor(atMs / 1_000));
    line.minutes.began(atMs);
  }

  /** A request ended; `firstByteMs`: from its beginning to the first byte. `route`: where to, if it was routed. */
  ended(
    atMs: number,
    hasFailed: boolean,
    firstByteMs: number | undefined,
    route?: Pick<LineMinute, 'protocol' | 'provider' | 'model'>,
  ): void {
    const row = this.#add(atMs, ended);
    if (hasFailed && route) this.#line(route.protocol, route.provider, route.model).minutes.failed(atMs);
    if (hasFailed) this.#counts[row + failed] = (this.#counts[row + failed] ?? 0) + 1;
    if (firstByteMs === undefined) return;
    const at = row + firstClass + scale.classOf(firstByteMs);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Requests of a line that were routed in the last seconds. */
  recent(nowMs: number, wire: ClientWire, provider: string, model: string): number {
    return this.#lines.get(lineOf(wire, provider, model))?.seconds.since(Math.floor(nowMs / 1_000)) ?? 0;
  }

  /** The counts of each line in the last minutes. */
  lineMinutes(nowMs: number, minutes: number): readonly LineMinute[] {
    const first = firstMinute(nowMs, minutes);
    return [...this.#lines.values()].flatMap(({ protocol, provider, model, minutes: ring }) =>
      ring.since(first).map((counts) => ({ protocol, provider, model, ...counts })),
    );
  }

  /** The counts of the last steps that have any, oldest first. */
  counts(nowMs: number, minutes: number): readonly TrafficCounts[] {
    const last = Math.floor(nowMs / stepMs);
    const found: TrafficCounts[] = [];
    for (let step = last - stepsOf(minutes) + 1; step <= last; step += 1) {
      const at = step % maxSteps;
      if (this.#steps[at] !== step) continue;
      const row = this.#counts.subarray(at * width, (at + 1) * width);
      found.push({
        step,
        began: row[began] ?? 0,
        ended: row[ended] ?? 0,
        failed: row[failed] ?? 0,
        firstBytes: [...row.subarray(firstClass)],
      });
    }
    return found;
  }

  /** What ended in the last hour: all steps that are kept. */
  lastHour(nowMs: number): HourFigures {
    const last = Math.floor(nowMs / stepMs);
    const sums = { ended: 0, failed: 0 };
    for (const [at, step] of this.#steps.entries()) {
      if (step <= last - maxSteps || step > last) continue;
      sums.ended += this.#counts[at * width + ended] ?? 0;
      sums.failed += this.#counts[at * width + failed] ?? 0;
    }
    return sums;
  }

  #line(protocol: ClientWire, provider: string, model: string): Line {
    const key = lineOf(protocol, provider, model);
    let line = this.#lines.get(key);
    if (!line) {
      line = { protocol, provider, model, seconds: new SecondRing(), minutes: new MinuteRing() };
      this.#lines.set(key, line);
      const [oldest] = this.#lines.keys();
      if (this.#lines.size > maxLines && oldest !== undefined) this.#lines.delete(oldest);
    }
    return line;
  }

  /** Adds one to a field of a time's step; the index of the step's first field. */
  #add(atMs: number, field: number): number {
    const step = Math.floor(atMs / stepMs);
    const at = step % maxSteps;
    const row = at * width;
    if (this.#steps[at] !== step) {
      this.#steps[at] = step;
      this.#counts.fill(0, row, row + width);
    }
    this.#counts[row + field] = (this.#counts[row + field] ?? 0) + 1;
    return row;
  }
}

const lineOf = (wire: ClientWire, provider: string, model: string): string => `${wire}\n${provider}\n${model}`;

const stepsOf = (minutes: number): number => Math.min(maxSteps, (minutes * 60_000) / stepMs);

/** The traffic of all processes over the last minutes, in steps of equal length. Steps before the start have nothing. */
export const trafficOf = (
  parts: readonly (readonly TrafficCounts[])[],
  nowMs: number,
  minutes: number,
): Omit<NonNullable<Activity['traffic']>, 'lines'> => {
  const last = Math.floor(nowMs / stepMs);
  const sums = new Map<number, TrafficCounts>();
  for (const counts of parts.flat()) {
    const known = sums.get(counts.step);
    sums.set(counts.step, known ? sumOf(known, counts) : counts);
  }
  const steps = Array.from({ length: stepsOf(minutes) }, (_, index) => {
    const step = last - stepsOf(minutes) + 1 + index;
    const counts = sums.get(step);
    const firstBytes = counts?.firstBytes.map((count, timeClass) => [timeClass, count] as const) ?? [];
    const p50 = scale.percentile(firstBytes, 0.5);
    const p95 = scale.percentile(firstBytes, 0.95);
    return {
      at: step * stepMs,
      began: counts?.began ?? 0,
      ended: counts?.ended ?? 0,
      failed: counts?.failed ?? 0,
      ...(p50 !== undefined && { firstByteP50Ms: p50 }),
      ...(p95 !== undefined && { firstByteP95Ms: p95 }),
    };
  });
  return { stepMs, steps };
};

const sumOf = (one: TrafficCounts, other: TrafficCounts): TrafficCounts => ({
  step: one.step,
  began: one.began + other.began,
  ended: one.ended + other.ended,
  failed: one.failed + other.failed,
  firstBytes: one.firstBytes.map((count, at) => count + (other.firstBytes[at] ?? 0)),
});

const minuteMs = 60_000;
/** How many minutes are kept. */
const maxMinutes = 60;

/** A ring of counters by minute: a line's requests that began, and those that failed. */
class MinuteRing {
  readonly #minutes = new Float64Array(maxMinutes);
  readonly #began = new Uint32Array(maxMinutes);
  readonly #failed = new Uint32Array(maxMinutes);

  began(atMs: number): void {
    const at = this.#slot(atMs);
    this.#began[at] = (this.#began[at] ?? 0) + 1;
  }

  failed(atMs: number): void {
    const at = this.#slot(atMs);
    this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  /** The minutes since this one that have counts. */
  since(first: number): readonly Pick<LineMinute, 'minute' | 'began' | 'failed'>[] {
    return [...this.#minutes].flatMap((minute, at) =>
      minute < first ? [] : [{ minute, began: this.#began[at] ?? 0, failed: this.#failed[at] ?? 0 }],
    );
  }

  #slot(atMs: number): number {
    const minute = Math.floor(atMs / minuteMs);
    const at = minute % maxMinutes;
    if (this.#minutes[at] !== minute) {
      this.#minutes[at] = minute;
      this.#began[at] = 0;
      this.#failed[at] = 0;
    }
    return at;
  }
}

/** The first of the last minutes, which aren't over, as numbers since 1970. */
const firstMinute = (nowMs: number, minutes: number): number => Math.floor(nowMs / minuteMs) - minutes + 1;

/** The traffic of each line in all processes, minute by minute. */
export const lineTrafficOf = (
  counts: readonly LineMinute[],
  nowMs: number,
  minutes: number,
): NonNullable<Activity['traffic']>['lines'] => {
  const first = firstMinute(nowMs, minutes);
  const lines = new Map<
    string,
    { protocol: ClientWire; provider: string; model: string; began: number[]; failed: number[] }
  >();
  for (const { protocol, provider, model, minute, began, failed } of counts) {
    const at = minute - first;
    if (at < 0 || at >= minutes) continue;
    const key = JSON.stringify([protocol, provider, model]);
    const empty = () => Array<number>(minutes).fill(0);
    const line = lines.get(key) ?? { protocol, provider, model, began: empty(), failed: empty() };
    lines.set(key, line);
    line.began[at] = (line.began[at] ?? 0) + began;
    line.failed[at] = (line.failed[at] ?? 0) + failed;
  }
  return [...lines.values()];
};
