import type { ClientWire } from '../../model/wire/client-wires.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { TimeScale } from '../../store/time-scale.ts';
import type { Activity, HourFigures } from '../record/schema.ts';
import type { RouteMinute, TrafficCounts } from './questions.ts';

/** The length of a step, in milliseconds, and how many are kept: an hour. */
const slotMs = 5_000;
const maxSlots = 720;

/** Times to the first byte, from 1 ms to 1,000 s. */
const scale = new TimeScale(1, 4, 6);

/** Began, ended, failed; then the classes of times. */
const began = 0;
const ended = 1;
const failed = 2;
const firstClass = 3;
const width = firstClass + scale.classes;

/** Length of the window for rates, in seconds, and maximum number of routes with one. */
export const rateSeconds = 10;
const maxLines = 1_000;

/** Counters of the last slots of time, in memory of a fixed size. Slots are numbered since 1970. */
class CounterRing {
  readonly #size: number;
  /** Counters per slot. */
  readonly #width: number;
  readonly #counts: Uint32Array;
  readonly #slots: Float64Array;

  constructor(slots: number, width: number) {
    this.#size = slots;
    this.#width = width;
    this.#counts = new Uint32Array(slots * width);
    this.#slots = new Float64Array(slots);
  }

  /** Adds one to a counter of a slot. */
  add(slot: number, counter: number): void {
    const at = slot % this.#size;
    const row = at * this.#width;
    if (this.#slots[at] !== slot) {
      this.#slots[at] = slot;
      this.#counts.fill(0, row, row + this.#width);
    }
    this.#counts[row + counter] = (this.#counts[row + counter] ?? 0) + 1;
  }

  /** The last slots up to this one that have counts, oldest first. */
  *last(slots: number, last: number): Generator<readonly [slot: number, counts: Uint32Array]> {
    for (let slot = last - Math.min(slots, this.#size) + 1; slot <= last; slot += 1) {
      const at = slot % this.#size;
      if (this.#slots[at] === slot) yield [slot, this.#counts.subarray(at * this.#width, (at + 1) * this.#width)];
    }
  }
}

/** Counters of one client protocol's requests to one model. */
interface Line {
  readonly protocol: ClientWire;
  readonly provider: string;
  readonly model: string;
  /** Requests that began. */
  readonly seconds: CounterRing;
  /** Requests that began, and those that failed. */
  readonly minutes: CounterRing;
}

/** Counts requests by time, in memory of a fixed size. Times are in milliseconds since 1970. */
export class Traffic {
  readonly #slots = new CounterRing(maxSlots, width);
  readonly #routes = new BoundedMap<string, Line>(maxLines);

  /** A request was routed at this time. */
  began(atMs: number, wire: ClientWire, provider: string, model: string): void {
    this.#slots.add(slotAt(atMs), began);
    const line = this.#routeFigures(wire, provider, model);
    line.seconds.add(Math.floor(atMs / 1_000), 0);
    line.minutes.add(minuteAt(atMs), lineBegan);
  }

  /** A request ended; `firstByteMs`: from its beginning to the first byte. `route`: where to, if it was routed. */
  ended(
    atMs: number,
    hasFailed: boolean,
    firstByteMs: number | undefined,
    route?: Pick<RouteMinute, 'protocol' | 'provider' | 'model'>,
  ): void {
    const slot = slotAt(atMs);
    this.#slots.add(slot, ended);
    if (hasFailed) this.#slots.add(slot, failed);
    if (hasFailed && route)
      this.#routeFigures(route.protocol, route.provider, route.model).minutes.add(minuteAt(atMs), lineFailed);
    if (firstByteMs !== undefined) this.#slots.add(slot, firstClass + scale.classOf(firstByteMs));
  }

  /** Requests of a line that were routed in the last seconds. */
  recent(nowMs: number, wire: ClientWire, provider: string, model: string): number {
    const seconds = this.#routes.get(routeOf(wire, provider, model))?.seconds;
    let sum = 0;
    for (const [, counts] of seconds?.last(rateSeconds, Math.floor(nowMs / 1_000)) ?? []) sum += counts[0] ?? 0;
    return sum;
  }

  /** The counts of each line in the last minutes. */
  routeMinutes(nowMs: number, minutes: number): readonly RouteMinute[] {
    return [...this.#routes.values()].flatMap(({ protocol, provider, model, minutes: ring }) =>
      [...ring.last(minutes, minuteAt(nowMs))].map(([minute, counts]) => ({
        protocol,
        provider,
        model,
        minute,
        began: counts[lineBegan] ?? 0,
        failed: counts[lineFailed] ?? 0,
      })),
    );
  }

  /** The counts of the last steps that have any, oldest first. */
  counts(nowMs: number, minutes: number): readonly TrafficCounts[] {
    return [...this.#slots.last(slotsOf(minutes), slotAt(nowMs))].map(([step, counts]) => ({
      step,
      began: counts[began] ?? 0,
      ended: counts[ended] ?? 0,
      failed: counts[failed] ?? 0,
      firstBytes: [...counts.subarray(firstClass)],
    }));
  }

  /** Requests that ended in the last hour: the sum of all slots. */
  lastHour(nowMs: number): HourFigures {
    const sums = { ended: 0, failed: 0 };
    for (const [, counts] of this.#slots.last(maxSlots, slotAt(nowMs))) {
      sums.ended += counts[ended] ?? 0;
      sums.failed += counts[failed] ?? 0;
    }
    return sums;
  }

  #routeFigures(protocol: ClientWire, provider: string, model: string): Line {
    return this.#routes.remember(routeOf(protocol, provider, model), () => ({
      protocol,
      provider,
      model,
      seconds: new CounterRing(rateSeconds, 1),
      minutes: new CounterRing(maxMinutes, lineWidth),
    }));
  }
}

const routeOf = (wire: ClientWire, provider: string, model: string): string => `${wire}\n${provider}\n${model}`;

const slotsOf = (minutes: number): number => Math.min(maxSlots, (minutes * 60_000) / slotMs);

/** The traffic of all processes over the last minutes, in steps of equal length. Steps before the start have nothing. */
export const trafficOf = (
  parts: readonly (readonly TrafficCounts[])[],
  nowMs: number,
  minutes: number,
): Omit<NonNullable<Activity['traffic']>, 'lines'> => {
  const last = Math.floor(nowMs / slotMs);
  const sums = new Map<number, TrafficCounts>();
  for (const counts of parts.flat()) {
    const known = sums.get(counts.step);
    sums.set(counts.step, known ? sumOf(known, counts) : counts);
  }
  const steps = Array.from({ length: slotsOf(minutes) }, (_, index) => {
    const step = last - slotsOf(minutes) + 1 + index;
    const counts = sums.get(step);
    const firstBytes = counts?.firstBytes.map((count, timeClass) => [timeClass, count] as const) ?? [];
    const p50 = scale.percentile(firstBytes, 0.5);
    const p95 = scale.percentile(firstBytes, 0.95);
    return {
      at: step * slotMs,
      began: counts?.began ?? 0,
      ended: counts?.ended ?? 0,
      failed: counts?.failed ?? 0,
      ...(p50 !== undefined && { firstByteP50Ms: p50 }),
      ...(p95 !== undefined && { firstByteP95Ms: p95 }),
    };
  });
  return { stepMs: slotMs, steps };
};

const sumOf = (one: TrafficCounts, other: TrafficCounts): TrafficCounts => ({
  step: one.step,
  began: one.began + other.began,
  ended: one.ended + other.ended,
  failed: one.failed + other.failed,
  firstBytes: one.firstBytes.map((count, at) => count + (other.firstBytes[at] ?? 0)),
});

const minuteMs = 60_000;
/** Minutes kept. */
const maxMinutes = 60;

/** The number of a time's minute and step. */
const minuteAt = (ms: number): number => Math.floor(ms / minuteMs);
const slotAt = (ms: number): number => Math.floor(ms / slotMs);

/** A line's counters. */
const lineBegan = 0;
const lineFailed = 1;
const lineWidth = 2;

/** The first of the last minutes, which aren't over, as numbers since 1970. */
const firstMinute = (nowMs: number, minutes: number): number => minuteAt(nowMs) - minutes + 1;

/** The traffic of each line in all processes, minute by minute. */
export const routeTrafficOf = (
  counts: readonly RouteMinute[],
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
