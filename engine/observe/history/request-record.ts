import { performance } from 'node:perf_hooks';
import type { ReplyProgress } from '../../exchange.ts';
import { type Fault, shorten } from '../../model/fault.ts';
import type { ClientProtocol } from '../../model/protocol.ts';
import type { Usage } from '../../model/usage.ts';
import type { ObservedAttempt, ObservedFailure, ObservedRoute, PassThrough, Watcher } from '../../observer.ts';
import type { Recorder } from './recorder.ts';
import type { SummaryLoss } from './schema.ts';
import { type EndedRequest, showLoss } from './show-ended.ts';

/** Facts about a request at its start. */
export interface RequestStart {
  readonly id: string;
  readonly startedAtMs: number;
  readonly path: string;
  readonly preset: string | undefined;
  readonly client: ClientProtocol;
  readonly progress: ReplyProgress;
  /** Present if the request is captured. */
  readonly recorder: Recorder | undefined;
}

/** `deciding`: before the upstream call. `waiting`: before the first byte to the client. `streaming`: after it. */
type Phase = 'deciding' | 'waiting' | 'streaming';

const maxLosses = 50;

/**
 * The history entry of one request, from start to end. Does nothing per chunk once the answer has begun. Copies texts chosen by
 * clients only at the end, cut to a bounded length, so that a summary keeps nothing of the request alive.
 */
export class RequestHistoryEntry implements Watcher {
  readonly start: RequestStart;
  readonly #startedMs = performance.now();
  readonly #ended: (record: RequestHistoryEntry, status: number) => void;
  #route: ObservedRoute | undefined;
  #calledMs: number | undefined;
  #upstreamMs: number | undefined;
  #firstByteMs: number | undefined;
  #overheadMs: number | undefined;
  #usage: Usage | undefined;
  #fault: Fault | undefined;
  #passThrough: PassThrough = { request: false, reply: false };
  #finished = false;

  constructor(start: RequestStart, ended: (record: RequestHistoryEntry, status: number) => void) {
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

  /** The destination; `undefined` until routed. */
  get route(): ObservedRoute | undefined {
    return this.#route;
  }

  routed({ resolution }: ObservedAttempt): void {
    this.#route = resolution;
  }

  called(): void {
    this.#calledMs = performance.now();
  }

  /** The upstream accepted; what passes through is decided. */
  answered(passThrough: PassThrough): void {
    this.#passThrough = passThrough;
  }

  chunk(): void {
    if (this.#firstByteMs !== undefined) return;
    this.#upstreamMs = performance.now();
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  fault(fault: Fault): void {
    this.#fault = fault;
  }

  attemptFailed({ fault }: ObservedFailure): void {
    this.#fault = fault;
  }

  failed(fault: Fault): void {
    this.#fault = fault;
  }

  firstByte(): void {
    if (this.#firstByteMs !== undefined) return;
    const nowMs = performance.now();
    this.#firstByteMs = nowMs - this.#startedMs;
    if (this.#upstreamMs !== undefined && this.#calledMs !== undefined) {
      this.#overheadMs = Math.max(0, this.#firstByteMs - (this.#upstreamMs - this.#calledMs));
    }
  }

  finished(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#ended(this, status);
  }

  /** Returns the data to keep after the end, as request number `n`; `maskText` removes secrets from upstream messages. */
  keep(n: number, status: number, maskText: (text: string) => string): EndedRequest {
    const { id, startedAtMs, path, preset, client, progress, recorder } = this.start;
    const route = this.#route;
    const fault = this.#fault;
    const losses = progress.context?.losses;
    return {
      n,
      id,
      startedAtMs,
      path,
      preset,
      protocol: client.wire,
      asked: shorten(progress.asked ?? ''),
      stream: progress.streaming,
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
      losses: losses === undefined || losses.size === 0 ? noLosses : losses.list.slice(0, maxLosses).map(showLoss),
      lossCount: losses?.size ?? 0,
      failed: progress.failed,
      relayed: this.#passThrough,
      captured: recorder !== undefined,
    };
  }
}

const noLosses: readonly SummaryLoss[] = [];
