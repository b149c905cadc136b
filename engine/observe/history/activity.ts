import type { ClientWire } from '../../model/request.ts';
import { type History, maxSummaries } from './history.ts';
import type { RequestHistoryEntry } from './request-record.ts';
import type { Activity, ActivityLine, InFlight, RequestSummary } from './schema.ts';

const maxInFlight = 200;
/** Number of a model's last requests that percentiles use. */
const maxTimes = 200;
const rateMs = 10_000;

/** Computes the activity from the history. `nowMs`: milliseconds since 1970. */
export const activityOf = (
  requests: Pick<History, 'list' | 'inFlight'>,
  nowMs: number,
): Pick<Activity, 'now' | 'inFlight' | 'inFlightCount' | 'lines'> => {
  const running = requests.inFlight();
  const lines = new Map<string, Tally>();
  const tallyFor = (protocol: ClientWire, provider: string, model: string): Tally => {
    const key = JSON.stringify([protocol, provider, model]);
    const line = lines.get(key) ?? new Tally(protocol, provider, model);
    lines.set(key, line);
    return line;
  };
  for (const summary of requests.list(0, maxSummaries)) {
    const { protocol, provider, model } = summary;
    if (provider !== undefined && model !== undefined) tallyFor(protocol, provider, model).add(summary, nowMs);
  }
  for (const { start, route } of running) {
    if (route) tallyFor(start.client.wire, route.provider.name, route.model).addActive(start.startedAtMs, nowMs);
  }
  return {
    now: nowMs,
    inFlight: running.slice(0, maxInFlight).map(show),
    inFlightCount: running.length,
    lines: [...lines.values()].map((line) => line.show()),
  };
};

const show = ({ start, route, phase }: RequestHistoryEntry): InFlight => ({
  id: start.id,
  startedAt: start.startedAtMs,
  protocol: start.client.wire,
  asked: start.progress.asked ?? '',
  ...(route && { provider: route.provider.name, model: route.model, scenario: route.scenario }),
  stream: start.progress.streaming,
  phase,
});

/** Statistics of one client protocol's requests to one model. */
class Tally {
  readonly #names: Pick<ActivityLine, 'protocol' | 'provider' | 'model'>;
  #requests = 0;
  #errors = 0;
  #losses = 0;
  #active = 0;
  #recent = 0;
  readonly #durations: number[] = [];
  readonly #firstBytes: number[] = [];

  constructor(protocol: ClientWire, provider: string, model: string) {
    this.#names = { protocol, provider, model };
  }

  /** Adds an ended request; call with the newest first. */
  add(
    { startedAt, status, fault, losses, lossesOmitted = 0, durationMs, firstByteMs }: RequestSummary,
    nowMs: number,
  ): void {
    this.#requests += 1;
    if (status !== clientGone && (status >= 400 || fault !== undefined)) this.#errors += 1;
    this.#losses += losses.length + lossesOmitted;
    if (startedAt > nowMs - rateMs) this.#recent += 1;
    if (this.#durations.length < maxTimes) this.#durations.push(durationMs);
    if (firstByteMs !== undefined && this.#firstBytes.length < maxTimes) this.#firstBytes.push(firstByteMs);
  }

  addActive(startedAtMs: number, nowMs: number): void {
    this.#active += 1;
    if (startedAtMs > nowMs - rateMs) this.#recent += 1;
  }

  show(): ActivityLine {
    const p50 = percentile(this.#durations, 0.5);
    const p95 = percentile(this.#durations, 0.95);
    const firstByte = percentile(this.#firstBytes, 0.5);
    return {
      ...this.#names,
      requests: this.#requests,
      errors: this.#errors,
      losses: this.#losses,
      active: this.#active,
      perSecond: this.#recent / (rateMs / 1000),
      ...(p50 !== undefined && { p50Ms: p50 }),
      ...(p95 !== undefined && { p95Ms: p95 }),
      ...(firstByte !== undefined && { firstByteP50Ms: firstByte }),
    };
  }
}

const clientGone = 499;

/** Percentile by the nearest-rank method; `undefined` for no values. */
const percentile = (values: readonly number[], fraction: number): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.max(0, Math.ceil(values.length * fraction) - 1)];
