import { listsModel } from '../../config/sections/destination.ts';
import { promptTokens, type Usage } from '../../model/event.ts';
import type { Fault } from '../../model/fault.ts';
import { clientGone } from '../../model/status.ts';
import { isVendors } from '../../model/transformer.ts';
import type {
  ObservedAttempt,
  ObservedCall,
  ObservedFailure,
  ObservedRoute,
  RequestListener,
  TraceCarrier,
} from '../../observe/listener.ts';
import { shorten } from '../../observe/log/mask-text.ts';
import { attribute, errorTypes, event, operation } from './conventions.ts';
import type { DurationMetrics } from './duration-metrics.ts';
import type { Span, SpanEvent } from './otlp.ts';
import { newSpanId, type TraceContext, traceHeaders } from './trace-context.ts';

/** A request as its trace begins. */
export interface TracedRequest {
  readonly id: string;
  readonly method: string;
  /** The path without the preset. */
  readonly route: string;
  readonly preset: string | undefined;
  readonly namedClient: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/** The receiver of a trace. */
interface TraceSink {
  readonly metrics: DurationMetrics;
  /** Takes spans that have ended. */
  readonly add: (span: Span) => void;
  /** Monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
}

/** Attempts of a request of which spans are made; further ones are only counted. */
const maxAttempts = 50;
const noEvents: readonly SpanEvent[] = [];

/** One call of an upstream. */
interface Attempt {
  readonly spanId: string;
  readonly startMs: number;
  readonly provider: string;
  readonly configuredProvider: string;
  readonly model: string;
  /** For metrics: a configured model, or `other`. */
  readonly modelLabel: string;
  readonly address: string;
  readonly port: number;
  readonly stream: boolean;
  readonly resends: number;
  firstChunkMs: number | undefined;
  usage: Usage | undefined;
}

/**
 * Makes the spans and measurements of one request: one span of the server, and below it one per upstream call. Keeps names, counts
 * and times only; no text of the request, the answer or a fault.
 */
export class RequestTrace implements RequestListener, TraceCarrier {
  readonly #request: TracedRequest;
  readonly #context: TraceContext;
  readonly #sink: TraceSink;
  readonly #spanId = newSpanId();
  readonly #startMs: number;
  readonly #events: SpanEvent[] = [];
  /** The id that the next call carries. */
  #nextId = '';
  #call: ObservedCall | undefined;
  #attempt: Attempt | undefined;
  #attempts = 0;
  #scenario: string | undefined;
  #fault: Fault | undefined;
  #isFinished = false;

  constructor(request: TracedRequest, context: TraceContext, sink: TraceSink) {
    this.#request = request;
    this.#context = context;
    this.#sink = sink;
    this.#startMs = sink.nowMs();
  }

  callHeaders(): Readonly<Record<string, string>> {
    this.#nextId = newSpanId();
    return traceHeaders(this.#context, this.#nextId);
  }

  childHeaders(): Readonly<Record<string, string>> {
    return traceHeaders(this.#context, this.#spanId);
  }

  routed({ resolution }: ObservedAttempt): void {
    this.#scenario = resolution.scenario;
  }

  encoded(ready: ObservedCall): void {
    this.#call = ready;
  }

  called(): void {
    if (!this.#call) return;
    const { resolution, plan, call, request, retries } = this.#call;
    this.#call = undefined;
    this.#attempts += 1;
    const { provider, model } = resolution;
    const { url } = call;
    this.#attempt = {
      spanId: this.#nextId,
      startMs: this.#sink.nowMs(),
      provider: isVendors(plan.choice.because) ? (plan.format.genAiName ?? plan.format.name) : provider.name,
      configuredProvider: provider.name,
      model: shorten(model),
      modelLabel: listsModel(provider, model) ? model : 'other',
      address: url.hostname,
      port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      stream: request.stream,
      resends: retries,
      firstChunkMs: undefined,
      usage: undefined,
    };
  }

  answered(): void {
    this.#fault = undefined;
  }

  chunk(): void {
    const attempt = this.#attempt;
    if (attempt && attempt.firstChunkMs === undefined) attempt.firstChunkMs = this.#sink.nowMs();
  }

  counted(usage: Usage): void {
    if (this.#attempt) this.#attempt.usage = usage;
  }

  brokeOff(fault: Fault): void {
    this.#fault = fault;
  }

  attemptFailed({ fault }: ObservedFailure): void {
    this.#fault = fault;
    this.#endAttempt(fault.kind, fault.status);
  }

  retried(reason: string): void {
    this.#addEvent(event.retry, { [attribute.errorType]: reason });
  }

  fellBack({ provider, model }: Omit<ObservedRoute, 'scenario'>): void {
    this.#addEvent(event.fallback, {
      [attribute.configuredProvider]: provider.name,
      [attribute.requestModel]: shorten(model),
    });
  }

  failed(fault: Fault): void {
    this.#fault = fault;
    this.#endAttempt(fault.kind, fault.status);
  }

  finished(status: number): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const fault = this.#fault;
    const isGone = status === clientGone;
    const errorType = isGone ? errorTypes.clientGone : fault?.kind;
    this.#endAttempt(errorType, isGone ? undefined : fault?.status);
    const { metrics, nowMs } = this.#sink;
    const { id, method, route, preset, namedClient } = this.#request;
    const endMs = nowMs();
    metrics.request(method, route, status, errorType ?? '', (endMs - this.#startMs) / 1000);
    this.#add({
      spanId: this.#spanId,
      parentId: this.#context.parentId,
      name: `${method} ${route}`,
      kind: 'server',
      startMs: this.#startMs,
      endMs,
      attributes: {
        [attribute.method]: method,
        [attribute.route]: route,
        [attribute.status]: status,
        [attribute.errorType]: errorType,
        [attribute.requestId]: id,
        [attribute.client]: namedClient,
        [attribute.preset]: preset,
        [attribute.scenario]: this.#scenario,
        [attribute.attempts]: this.#attempts,
      },
      events: this.#events,
      // A client's mistake isn't the server's error. An answer that broke off has the status of its beginning.
      isError: !isGone && fault !== undefined && (status >= 500 || status < 400),
    });
  }

  #endAttempt(errorType: string | undefined, status: number | undefined): void {
    const attempt = this.#attempt;
    if (!attempt) return;
    this.#attempt = undefined;
    const { metrics, nowMs } = this.#sink;
    const { startMs, firstChunkMs, usage, stream, model, modelLabel } = attempt;
    const endMs = nowMs();
    const measured = { provider: attempt.provider, model: modelLabel };
    metrics.attempt(measured, (endMs - startMs) / 1000, errorType ?? '');
    const firstChunk = stream && firstChunkMs !== undefined ? (firstChunkMs - startMs) / 1000 : undefined;
    if (firstChunk !== undefined) metrics.firstChunk(measured, firstChunk);
    if (usage) metrics.usage(measured, usage);
    if (this.#attempts > maxAttempts) return;
    this.#add({
      spanId: attempt.spanId,
      parentId: this.#spanId,
      name: `${operation} ${model}`,
      kind: 'client',
      startMs,
      endMs,
      attributes: {
        [attribute.operation]: operation,
        [attribute.provider]: attempt.provider,
        [attribute.configuredProvider]: attempt.configuredProvider,
        [attribute.requestModel]: model,
        [attribute.stream]: stream,
        [attribute.serverAddress]: attempt.address,
        [attribute.serverPort]: attempt.port,
        [attribute.resends]: attempt.resends > 0 ? attempt.resends : undefined,
        [attribute.status]: status,
        [attribute.errorType]: errorType,
        [attribute.firstChunk]: firstChunk,
        [attribute.inputTokens]: usage && promptTokens(usage),
        [attribute.cacheReadTokens]: usage?.cacheRead,
        [attribute.cacheWriteTokens]: usage?.cacheWrite,
        [attribute.outputTokens]: usage?.output,
        [attribute.reasoningTokens]: usage?.reasoning,
      },
      events: noEvents,
      isError: errorType !== undefined,
    });
  }

  #addEvent(name: string, attributes: SpanEvent['attributes']): void {
    if (!this.#context.isSampled || this.#events.length >= maxAttempts) return;
    this.#events.push({ name, atMs: this.#wallMs(this.#sink.nowMs()), attributes });
  }

  /** Queues a span, with times by the wall clock of the request's start. */
  #add(span: Omit<Span, 'traceId' | 'state'>): void {
    const { traceId, state, isSampled } = this.#context;
    if (!isSampled) return;
    this.#sink.add({ ...span, traceId, state, startMs: this.#wallMs(span.startMs), endMs: this.#wallMs(span.endMs) });
  }

  #wallMs(ms: number): number {
    return this.#request.startedAtMs + (ms - this.#startMs);
  }
}
