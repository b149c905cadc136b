import type { Fault } from '../../model/fault.ts';
import type { Usage } from '../../model/usage.ts';
import type { ObservedFailure, ObservedRoute, Watcher } from '../../observer.ts';
import type { Counts } from './counts.ts';

/** Label value while the provider, model or scenario is unknown. */
const none = 'none';
/** Label value for all models that the configuration doesn't list: clients choose those, so their number is unbounded. */
const otherModel = 'other';
const clientGone = 499;

const labelOf = ({ provider, model }: Omit<ObservedRoute, 'scenario'>): string =>
  provider.models.includes(model) ? model : otherModel;

/** Measures one request; `nowMs` is a monotonic clock in milliseconds. */
export class Meter implements Watcher {
  readonly #counts: Counts;
  readonly #route: string;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #provider = none;
  #model = none;
  #scenario = none;
  #calledMs: number | undefined;
  /** Time of the last upstream chunk before the client's first byte. */
  #upstreamMs: number | undefined;
  readonly #faults = new Set<Fault>();
  #answering = false;
  #streaming = false;
  #finished = false;

  constructor(counts: Counts, route: string, nowMs: () => number) {
    this.#counts = counts;
    this.#route = route;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
  }

  routed({ resolution: { provider, model, scenario } }: { readonly resolution: ObservedRoute }): void {
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

  fellBack(to: Omit<ObservedRoute, 'scenario'>): void {
    this.#counts.fallbacks.add([`${this.#provider},${this.#model}`, `${to.provider.name},${labelOf(to)}`]);
  }

  chunk(): void {
    if (!this.#answering) this.#upstreamMs = this.#nowMs();
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

  attemptFailed({ fault }: ObservedFailure): void {
    this.fault(fault);
  }

  failed(fault: Fault): void {
    this.fault(fault);
  }

  opened(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#counts.streams += 1;
  }

  firstByte(): void {
    if (this.#answering) return;
    this.#answering = true;
    // Without upstream data the reply is a fault of the gateway.
    if (this.#upstreamMs === undefined) return;
    const where = [this.#route, this.#provider];
    const waitedMs = this.#nowMs() - this.#startedMs;
    const upstreamMs = this.#upstreamMs - (this.#calledMs ?? this.#startedMs);
    this.#counts.firstBytes.observe(where, waitedMs / 1000);
    this.#counts.overheads.observe(where, Math.max(0, waitedMs - upstreamMs) / 1000);
  }

  finished(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#streaming) this.#counts.streams -= 1;
    const { requests, durations, aborts } = this.#counts;
    if (status === clientGone) aborts.add([this.#route]);
    requests.add([this.#route, this.#provider, this.#model, this.#scenario, String(status)]);
    durations.observe([this.#route, this.#provider], (this.#nowMs() - this.#startedMs) / 1000);
  }
}
