import { hasFailed } from '../../model/status.ts';
import type { ClientWire } from '../../model/wire/client-wires.ts';
import type { RequestRecord } from '../../request-record.ts';
import { maxSummaries } from '../record/pending-lines.ts';
import type { Activity, ActivityRoute, InFlight, RequestSummary } from '../record/schema.ts';
import type { History } from './history.ts';
import type { ActivityAnswer, RouteFigures } from './questions.ts';
import { rateSeconds, routeTrafficOf, type Traffic, trafficOf } from './traffic.ts';

const maxInFlight = 200;
/** Number of a model's last requests that percentiles use. */
const maxTimes = 200;

/** Current activity of this process, and the traffic of the last minutes. `nowMs`: milliseconds since 1970. */
export const ownActivity = (
  requests: Pick<History, 'list' | 'inFlight' | 'traffic'>,
  nowMs: number,
  minutes: number,
): ActivityAnswer => {
  const running = requests.inFlight();
  const lines = new Map<string, Tally>();
  const tallyFor = (protocol: ClientWire, provider: string, model: string): Tally => {
    const key = routeKey({ protocol, provider, model });
    const line = lines.get(key) ?? new Tally(protocol, provider, model);
    lines.set(key, line);
    return line;
  };
  for (const summary of requests.list(0, maxSummaries)) {
    const { protocol, provider, model } = summary;
    if (provider !== undefined && model !== undefined) tallyFor(protocol, provider, model).add(summary);
  }
  for (const { protocol, provider, model } of running) {
    if (provider !== undefined && model !== undefined) tallyFor(protocol, provider, model).addActive();
  }
  return {
    inFlight: running.slice(0, maxInFlight).map(show),
    inFlightCount: running.length,
    lines: [...lines.values()].map((line) => line.figures(requests.traffic, nowMs)),
    lastHour: requests.traffic.lastHour(nowMs),
    traffic: requests.traffic.counts(nowMs, minutes),
    lineMinutes: requests.traffic.routeMinutes(nowMs, minutes),
  };
};

/** Merges the activity of all processes. */
export const activityOf = (
  parts: readonly ActivityAnswer[],
  nowMs: number,
  minutes: number,
): Pick<Activity, 'now' | 'inFlight' | 'inFlightCount' | 'lines' | 'lastHour' | 'traffic'> => {
  const lines = new Map<string, RouteFigures>();
  for (const line of parts.flatMap((part) => part.lines)) {
    const known = lines.get(routeKey(line));
    lines.set(routeKey(line), known ? sumOf(known, line) : line);
  }
  const inFlight = parts.flatMap((part) => part.inFlight);
  return {
    now: nowMs,
    inFlight: inFlight.toSorted((one, other) => one.startedAt - other.startedAt).slice(0, maxInFlight),
    inFlightCount: parts.reduce((sum, part) => sum + part.inFlightCount, 0),
    lines: [...lines.values()].map(showRoute),
    lastHour: {
      ended: parts.reduce((sum, { lastHour }) => sum + (lastHour?.ended ?? 0), 0),
      failed: parts.reduce((sum, { lastHour }) => sum + (lastHour?.failed ?? 0), 0),
    },
    ...(minutes > 0 && {
      traffic: {
        ...trafficOf(
          parts.map((part) => part.traffic),
          nowMs,
          minutes,
        ),
        lines: routeTrafficOf(
          parts.flatMap((part) => part.lineMinutes),
          nowMs,
          minutes,
        ),
      },
    }),
  };
};

const routeKey = ({ protocol, provider, model }: Pick<RouteFigures, 'protocol' | 'provider' | 'model'>): string =>
  JSON.stringify([protocol, provider, model]);

const sumOf = (one: RouteFigures, other: RouteFigures): RouteFigures => ({
  ...one,
  requests: one.requests + other.requests,
  errors: one.errors + other.errors,
  losses: one.losses + other.losses,
  active: one.active + other.active,
  recent: one.recent + other.recent,
  durations: [...one.durations, ...other.durations],
  firstBytes: [...one.firstBytes, ...other.firstBytes],
});

const show = (record: RequestRecord): InFlight => {
  const { id, startedAtMs, protocol, namedClient, asked, stream, phase, provider, model, scenario } = record;
  return {
    id,
    startedAt: startedAtMs,
    protocol,
    ...(namedClient !== undefined && { client: namedClient }),
    asked,
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(scenario !== undefined && { scenario }),
    stream,
    phase,
  };
};

/** Statistics of one client protocol's requests to one model. */
class Tally {
  readonly #names: Pick<ActivityRoute, 'protocol' | 'provider' | 'model'>;
  #requests = 0;
  #errors = 0;
  #losses = 0;
  #active = 0;
  readonly #durations: number[] = [];
  readonly #firstBytes: number[] = [];

  constructor(protocol: ClientWire, provider: string, model: string) {
    this.#names = { protocol, provider, model };
  }

  /** Adds an ended request; call with the newest first. */
  add({ status, fault, losses, lossesOmitted = 0, durationMs, firstByteMs }: RequestSummary): void {
    this.#requests += 1;
    if (hasFailed(status, fault !== undefined)) this.#errors += 1;
    this.#losses += losses.length + lossesOmitted;
    if (this.#durations.length < maxTimes) this.#durations.push(durationMs);
    if (firstByteMs !== undefined && this.#firstBytes.length < maxTimes) this.#firstBytes.push(firstByteMs);
  }

  addActive(): void {
    this.#active += 1;
  }

  figures(traffic: Traffic, nowMs: number): RouteFigures {
    const { protocol, provider, model } = this.#names;
    return {
      ...this.#names,
      requests: this.#requests,
      errors: this.#errors,
      losses: this.#losses,
      active: this.#active,
      recent: traffic.recent(nowMs, protocol, provider, model),
      durations: this.#durations,
      firstBytes: this.#firstBytes,
    };
  }
}

const showRoute = ({ recent, durations, firstBytes, ...figures }: RouteFigures): ActivityRoute => {
  const p50 = percentile(durations, 0.5);
  const p95 = percentile(durations, 0.95);
  const firstByte = percentile(firstBytes, 0.5);
  return {
    ...figures,
    perSecond: recent / rateSeconds,
    ...(p50 !== undefined && { p50Ms: p50 }),
    ...(p95 !== undefined && { p95Ms: p95 }),
    ...(firstByte !== undefined && { firstByteP50Ms: firstByte }),
  };
};

/** Percentile by the nearest-rank method; `undefined` for no values. */
const percentile = (values: readonly number[], fraction: number): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * fraction) - 1)];
