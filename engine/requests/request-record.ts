import { performance } from 'node:perf_hooks';
import type { Answered, Delivery } from '../exchange.ts';
import type { MeteredRoute, RequestMeter } from '../metrics/request-meter.ts';
import type { Fault } from '../model/fault.ts';
import type { Loss } from '../model/loss.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { Usage } from '../model/usage.ts';
import { mayRelay } from '../operators/relay.ts';
import type { Recorder } from './recorder.ts';
import { shorten } from './shorten.ts';
import type { EndedRequest } from './show-ended.ts';
import type { RequestSummary, SummaryLoss } from './summary.ts';

/** What is known of a request when it begins. */
export interface RequestStart {
  readonly id: string;
  readonly startedAtMs: number;
  readonly path: string;
  readonly preset: string | undefined;
  readonly client: ClientProtocol;
  readonly delivery: Delivery;
  /** Counts it for the metrics; gets all that the record gets. */
  readonly meter: RequestMeter;
  /** Present where the request is captured. */
  readonly recorder: Recorder | undefined;
}

/** Where a request stands: nobody is called yet, nothing goes out yet, or the answer does. */
export type Phase = 'deciding' | 'waiting' | 'streaming';

const mostLosses = 50;

/**
 * One request for those who look at the service, from its beginning to its end. Fields are set where they become known, and
 * nothing happens per chunk once the answer has begun. Texts that others choose are copied, cut to a bounded length, only at the
 * end, so a summary keeps nothing of the request alive.
 */
export class RequestRecord implements RequestMeter {
  readonly start: RequestStart;
  readonly #startedMs = performance.now();
  readonly #ended: (record: RequestRecord, status: number) => void;
  #route: MeteredRoute | undefined;
  #calledMs: number | undefined;
  #upstreamMs: number | undefined;
  #firstByteMs: number | undefined;
  #overheadMs: number | undefined;
  #usage: Usage | undefined;
  #fault: Fault | undefined;
  #relayed = { request: false, reply: false };
  #over = false;

  constructor(start: RequestStart, ended: (record: RequestRecord, status: number) => void) {
    this.start = start;
    this.#ended = ended;
  }

  get recorder(): Recorder | undefined {
    return this.start.recorder;
  }

  get phase(): Phase {
    if (this.#firstByteMs !== undefined) return 'streaming';
    return this.#calledMs === undefined ? 'deciding' : 'waiting';
  }

  /** Who answers; `undefined` until that is decided. */
  get route(): MeteredRoute | undefined {
    return this.#route;
  }

  routed(route: MeteredRoute): void {
    this.#route = route;
    this.start.meter.routed(route);
  }

  called(): void {
    this.#calledMs = performance.now();
    this.start.meter.called();
  }

  retried(reason: string): void {
    this.start.meter.retried(reason);
  }

  fellBack(to: Omit<MeteredRoute, 'scenario'>): void {
    this.start.meter.fellBack(to);
  }

  /** The upstream accepted, and it is decided what passes as it comes. */
  answered(answered: Answered): void {
    this.#relayed = { request: answered.relays.request, reply: mayRelay(answered) };
  }

  upstreamByte(): void {
    if (this.#firstByteMs !== undefined) return;
    this.#upstreamMs = performance.now();
    this.start.meter.upstreamByte();
  }

  usage(usage: Usage): void {
    this.#usage = usage;
    this.start.meter.usage(usage);
  }

  fault(fault: Fault): void {
    this.#fault = fault;
    this.start.meter.fault(fault);
  }

  opened(): void {
    this.start.meter.opened();
  }

  firstByte(): void {
    if (this.#firstByteMs !== undefined) return;
    const nowMs = performance.now();
    this.#firstByteMs = nowMs - this.#startedMs;
    if (this.#upstreamMs !== undefined && this.#calledMs !== undefined) {
      this.#overheadMs = Math.max(0, this.#firstByteMs - (this.#upstreamMs - this.#calledMs));
    }
    this.start.meter.firstByte();
  }

  finished(status: number): void {
    if (this.#over) return;
    this.#over = true;
    this.start.meter.finished(status);
    this.#ended(this, status);
  }

  /** What is kept of it, as the request of this number; `maskText` takes secrets out of an upstream's own words. */
  keep(n: number, status: number, maskText: (text: string) => string): EndedRequest {
    const { id, startedAtMs, path, preset, client, delivery, recorder } = this.start;
    const route = this.#route;
    const fault = this.#fault;
    const losses = delivery.context?.losses;
    return {
      n,
      id,
      startedAtMs,
      path,
      preset,
      protocol: servedWire(client),
      asked: shorten(delivery.asked ?? ''),
      stream: delivery.streaming,
      scenario: route?.scenario,
      reason: route?.reason === undefined ? undefined : shorten(route.reason),
      provider: route?.provider.name,
      model: route === undefined ? undefined : shorten(route.model),
      status,
      fault: fault && { kind: fault.kind, message: shorten(maskText(fault.message), 500) },
      usage: this.#usage,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.#startedMs,
      overheadMs: this.#overheadMs,
      losses: losses === undefined || losses.size === 0 ? none : losses.list.slice(0, mostLosses).map(showLoss),
      lossCount: losses?.size ?? 0,
      failed: delivery.failed,
      relayed: this.#relayed,
      captured: recorder !== undefined,
    };
  }
}

const none: readonly SummaryLoss[] = [];

/** Clients speak three of the wire formats. */
const servedWire = ({ wire }: ClientProtocol): RequestSummary['protocol'] =>
  wire === 'messages' || wire === 'chat' ? wire : 'responses';

/** A loss as summaries tell it. */
export const showLoss = ({ step, path, outcome, note }: Loss): SummaryLoss => ({
  step,
  field: shorten(path),
  action: outcome,
  ...(note !== undefined && { note: shorten(note) }),
});
