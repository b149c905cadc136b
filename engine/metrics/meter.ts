import type { Fault } from '../model/fault.ts';
import type { Usage } from '../model/usage.ts';
import type { Counts } from './counts.ts';
import type { MeteredRoute, RequestMeter } from './request-meter.ts';

/** Where a request ended before it was known. */
const none = 'none';
/** Stands for every model that the configuration doesn't list: clients name those, so their number has no bound. */
const otherModel = 'other';
const clientGone = 499;

const labelOf = ({ provider, model }: Omit<MeteredRoute, 'scenario'>): string =>
  provider.models.includes(model) ? model : otherModel;

/** Counts one request under a clock of milliseconds. */
export class Meter implements RequestMeter {
  readonly #counts: Counts;
  readonly #route: string;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #provider = none;
  #model = none;
  #scenario = none;
  #calledMs: number | undefined;
  /** When the last piece came that the client's first byte had to wait for. */
  #upstreamMs: number | undefined;
  readonly #faults = new Set<Fault>();
  #begun = false;
  #streaming = false;
  #over = false;

  constructor(counts: Counts, route: string, nowMs: () => number) {
    this.#counts = counts;
    this.#route = route;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  routed({ provider, model, scenario }: MeteredRoute): void {
    this.#provider = provider.name;
    this.#model = labelOf({ provider, model });
    this.#scenario = scenario;
  }

  called(): void {
    this.#calledMs ??= this.#nowMs();
  }

  retried(reason: string): void {
    this.#counts.retries.add([this.#provider, reason]);
  }

  fellBack(to: Omit<MeteredRoute, 'scenario'>): void {
    this.#counts.fallbacks.add([`${this.#provider},${this.#model}`, `${to.provider.name},${labelOf(to)}`]);
  }

  upstreamByte(): void {
    if (!this.#begun) this.#upstreamMs = this.#nowMs();
  }

  usage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): void {
    const add = (type: string, tokens: number | undefined): void => {
      if (tokens !== undefined && tokens > 0) this.#counts.tokens.add([this.#provider, type], tokens);
    };
    add('input', input);
    add('cache_read', cacheRead);
    add('cache_write', cacheWrite);
    add('output', output);
    add('reasoning', reasoning);
  }

  fault(fault: Fault): void {
    if (this.#faults.has(fault)) return;
    this.#faults.add(fault);
    if (fault.kind.startsWith('upstream-')) this.#counts.upstreamErrors.add([this.#provider, fault.kind]);
  }

  opened(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#counts.streams += 1;
  }

  firstByte(): void {
    if (this.#begun) return;
    this.#begun = true;
    // Without a word from the upstream, what goes out is a fault.
    if (this.#upstreamMs === undefined) return;
    const where = [this.#route, this.#provider];
    const waitedMs = this.#nowMs() - this.#startedMs;
    const upstreamMs = this.#upstreamMs - (this.#calledMs ?? this.#startedMs);
    this.#counts.firstBytes.observe(where, waitedMs / 1000);
    this.#counts.overheads.observe(where, Math.max(0, waitedMs - upstreamMs) / 1000);
  }

  finished(status: number): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#streaming) this.#counts.streams -= 1;
    const { requests, durations, aborts } = this.#counts;
    if (status === clientGone) aborts.add([this.#route]);
    requests.add([this.#route, this.#provider, this.#model, this.#scenario, String(status)]);
    durations.observe([this.#route, this.#provider], (this.#nowMs() - this.#startedMs) / 1000);
  }
}
