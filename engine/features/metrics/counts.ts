import { performance } from 'node:perf_hooks';
import type { Usage } from '../../model/event.ts';
import type { Fault } from '../../model/fault.ts';
import type { WireFormat } from '../../model/request.ts';
import type { ObservedFailure, ObservedRoute, Watcher } from '../../observer.ts';
import { Distribution, Tally } from '../record/series.ts';

/** A model request that begins. */
interface CountedStart {
  readonly client: { readonly wire: WireFormat };
  /** The client whose own key it carries. */
  readonly namedClient?: string | undefined;
}

/** Bucket bounds for complete answers, in seconds. */
const answerSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

const firstByteSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];

const overheadSeconds = [0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024];

const holdSeconds = [0.25, 0.5, 1, 2, 4, 8, 16];

/** All that is counted of the service's requests. */
export class Counts {
  readonly requests = new Tally();
  readonly upstreamErrors = new Tally();
  readonly tokens = new Tally();
  readonly retries = new Tally();
  readonly fallbacks = new Tally();
  readonly aborts = new Tally();
  readonly reloads = new Tally();
  readonly keyRefusals = new Tally();
  readonly durations = new Distribution(answerSeconds);
  readonly firstBytes = new Distribution(firstByteSeconds);
  readonly overheads = new Distribution(overheadSeconds);
  readonly holds = new Distribution(holdSeconds);
  streams = 0;

  /** Starts measuring a model request; `route` is the client protocol's name, `client` that of a client with a key of its own. */
  readonly started = ({ client, namedClient = '' }: CountedStart): Meter =>
    new Meter(this, client.wire, namedClient, this.#nowMs);
  readonly #nowMs: () => number;

  /** `nowMs`: a monotonic clock in milliseconds. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }
}

/** Label value while the provider, model or scenario is unknown. */
const none = 'none';

/** Label value for all models that the configuration doesn't list: clients choose those, so their number is unbounded. */
const otherModel = 'other';

const clientGone = 499;

const labelOf = ({ provider, model }: Omit<ObservedRoute, 'scenario'>): string =>
  provider.models.includes(model) ? model : otherModel;

/** Measures one request; `nowMs` is a monotonic clock in milliseconds. */
class Meter implements Watcher {
  readonly #counts: Counts;
  readonly #route: string;
  /** A configured name, or empty. */
  readonly #client: string;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #provider = none;
  #model = none;
  #scenario = none;
  #calledMs: number | undefined;
  /** Time of the last upstream chunk before the client's first byte. */
  #upstreamMs: number | undefined;
  /** Those that are counted; few requests have any. */
  #faults: Set<Fault> | undefined;
  #answering = false;
  #streaming = false;
  #finished = false;

  constructor(counts: Counts, route: string, client: string, nowMs: () => number) {
    this.#counts = counts;
    this.#route = route;
    this.#client = client;
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
      if (tokens !== undefined && tokens > 0) this.#counts.tokens.add([this.#provider, type, this.#client], tokens);
    };
    add('input', input);
    add('cache_read', cacheRead);
    add('cache_write', cacheWrite);
    add('output', output);
    add('reasoning', reasoning);
  }

  fault(fault: Fault): void {
    if (this.#faults?.has(fault)) return;
    this.#faults ??= new Set();
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
    requests.add([this.#route, this.#provider, this.#model, this.#scenario, String(status), this.#client]);
    durations.observe([this.#route, this.#provider], (this.#nowMs() - this.#startedMs) / 1000);
  }
}
