import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { dataOf, type ReplyPart } from '../../http/endpoint.ts';
import { bodyBytes, bodyText, type CallBody } from '../../model/call-body.ts';
import type { ModelEvent } from '../../model/event.ts';
import { type Fault, faultOf } from '../../model/fault.ts';
import type { Losses } from '../../model/loss.ts';
import type { Headers } from '../../model/protocol.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { ObservedAttempt, ObservedCall, ObservedRefusal, RequestListener } from '../../observe/listener.ts';
import type { MemoryReservation } from '../../runtime/memory-budget.ts';
import type { UpstreamCall } from '../../upstream/upstreams.ts';
import { showLoss } from '../record/request-line.ts';
import type { SummaryLoss } from '../record/schema.ts';
import { requestTitle } from './request-title.ts';

/** The client's request as received. */
export interface RecordedClient {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

type StepKind = 'decode' | 'route' | 'stage' | 'encode';

/** The request after a step. */
interface RecordedStep {
  readonly name: string;
  readonly kind: StepKind;
  readonly ms: number;
  /** JSON text; `undefined` if it didn't fit. */
  readonly json: string | undefined;
  readonly losses: readonly SummaryLoss[];
}

/** The events that a step emitted for one chunk of the answer. */
interface RecordedEvents {
  readonly step: string;
  readonly atMs: number;
  /** Number of the chunk, from 1. */
  readonly piece: number;
  /** JSON text of each event. */
  readonly texts: string[];
}

/** An upstream call and its recorded answer. */
export interface RecordedCall {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: CallBody;
  status?: number;
  responseHeaders?: Headers;
  readonly recording: Recording;
  /** `abandoned`: cancelled before the end of the answer. */
  ended: 'complete' | 'failed' | 'abandoned';
  fault?: Fault;
}

/** `atMs`: when it was there, by `performance.now()`. */
export interface TimedRefusal extends ObservedRefusal {
  readonly atMs: number;
}

/** Timing marks of a request, in their usual order. */
export const markNames = [
  'received',
  'decoded',
  'routed',
  'encoded',
  'called',
  'retried',
  'upstreamHead',
  'firstChunk',
  'firstByte',
  'end',
] as const;
type MarkName = (typeof markNames)[number];

/** Records one captured request, with bounded memory. */
export class Recorder implements RequestListener {
  readonly client: RecordedClient;
  readonly steps: RecordedStep[] = [];
  readonly events: RecordedEvents[] = [];
  readonly marks = new Map<MarkName, number>([['received', 0]]);
  readonly reply: Recording;
  /** The last call, if there were several. */
  call: RecordedCall | undefined;
  head: { readonly status: number; readonly headers: Headers } | undefined;
  /** The credential that was sent upstream, and its provider. */
  credential: { readonly provider: string; readonly apiKey: string } | undefined;
  /** A few words of the conversation that tell it from others. */
  title: string | undefined;
  /** A step or events didn't fit. */
  truncated = false;
  /** It wasn't asked for: it has no stages, and of the upstream's answer only a failed one. */
  unasked = false;
  /** Of `performance.now()`; times are relative to it. */
  readonly startedMs: number;
  readonly #maxBytes: number;
  readonly #takes: TakeMemory;
  #losses: Losses | undefined;
  #request: ModelRequest | undefined;
  #knownLosses = 0;
  #stepEndMs = 0;
  #stepRoom: number;
  #eventRoom: number;
  #piece = 0;

  /**
   * `maxBytes` bounds each stream; all steps together may use eight times as much, all events four times. What is recorded of the
   * answer counts in `memory`, whose refusal truncates the recording.
   */
  constructor(
    client: RecordedClient,
    maxBytes: number,
    {
      memory,
      startedMs = performance.now(),
    }: { readonly memory?: MemoryReservation; readonly startedMs?: number } = {},
  ) {
    this.client = client;
    this.startedMs = startedMs;
    this.#maxBytes = maxBytes;
    this.#stepRoom = 8 * maxBytes;
    this.#eventRoom = 4 * maxBytes;
    this.#takes = (bytes) => memory?.take(bytes) === undefined;
    this.reply = new Recording(maxBytes, this.#takes);
  }

  /** Estimated memory, in bytes. */
  get bytes(): number {
    const steps = this.steps.reduce((sum, { json = '' }) => sum + json.length, 0);
    const events = this.events.reduce((sum, { texts }) => sum + texts.reduce((all, text) => all + text.length, 0), 0);
    const call = this.call ? this.call.body.length + this.call.recording.bytes : 0;
    return this.client.body.length + steps + events + call + this.reply.bytes;
  }

  decoded({ request }: { readonly request: ModelRequest }): void {
    this.mark('decoded');
    this.title = requestTitle(request);
    this.step('decode', 'decode', request);
  }

  /** A destination was chosen, for the first or a further attempt. */
  routed({ request, context }: ObservedAttempt): void {
    if (context.losses === this.#losses) return;
    this.#losses = context.losses;
    this.#knownLosses = 0;
    this.mark('routed');
    this.#request = request;
    this.step('route', 'route', request);
  }

  /** Earlier reasoning was reconciled; recorded as a step if it changed the request. */
  reconciled(routed: ObservedAttempt): void {
    const { request, resolution, apiKey } = routed;
    // Each attempt has its own losses.
    this.routed(routed);
    this.credential = { provider: resolution.provider.name, apiKey };
    if (request !== this.#request) this.step('signatures', 'stage', request);
  }

  encoded({ call, plan }: Pick<ObservedCall, 'call' | 'plan'>): void {
    this.mark('encoded');
    this.#addStep(plan.format.name, 'encode', bodyText(call.body));
  }

  /** Records the request after a step. */
  step(name: string, kind: StepKind, value: unknown): void {
    this.#addStep(name, kind, jsonText(value));
  }

  recordCall({ url, method = 'POST', headers, body }: Omit<UpstreamCall, 'backpressure'>): RecordedCall {
    if (this.call) this.#retried();
    else this.mark('called');
    const recording = new Recording(this.#maxBytes, this.#takes);
    this.call = { url, method, headers, body, recording, ended: 'abandoned' };
    this.events.length = 0;
    return this.call;
  }

  /**
   * Fills a recorder from what is known of a request that failed, or whose call has lost fields. `kept`: its call, where `sent` may
   * have let go of the body.
   */
  catchUp(sent: ObservedCall | undefined, kept: ObservedCall['call'] | undefined): void {
    this.unasked = true;
    if (sent) {
      const { url, headers, body } = kept ?? sent.call;
      const shown = cutBody(body, this.#maxBytes);
      // Its request may have marks in place of long texts, so it is no step.
      this.#losses = sent.context.losses;
      this.credential = { provider: sent.resolution.provider.name, apiKey: sent.apiKey };
      this.#addStep(sent.plan.format.name, 'encode', shown === body ? bodyText(body) : undefined);
      if (shown !== body) this.truncated = true;
      this.recordCall({ url, headers, body: shown });
    }
    // Its own times are those of the recording.
    this.marks.clear();
  }

  /** The call of a recorder that was filled afterwards has failed. `answer`: the upstream's, if that is the failure. */
  callFailed(fault: Fault, answer: TimedRefusal | undefined): void {
    const { call } = this;
    if (!call) return;
    call.ended = answer?.isWhole ? 'complete' : 'failed';
    if (call.ended === 'failed') call.fault = fault;
    if (!answer) return;
    call.status = answer.status;
    call.responseHeaders = answer.headers;
    call.recording.add(answer.atMs - this.startedMs, answer.body);
  }

  /** Records a chunk of the upstream's answer. */
  piece(call: RecordedCall, bytes: Uint8Array): void {
    this.mark('firstChunk');
    this.#piece += 1;
    call.recording.add(this.#nowMs(), bytes);
  }

  /** Records the end of the call's answer, or its error. */
  ended(call: RecordedCall, error?: unknown): void {
    // Later events belong to no chunk.
    this.#piece += 1;
    call.ended = error === undefined ? 'complete' : 'failed';
    if (error !== undefined) call.fault = faultOf(error);
  }

  /** Records events that a step emitted, grouped by chunk. */
  gave(step: string, events: readonly ModelEvent[]): void {
    if (events.length === 0 || this.#eventRoom < 0) return;
    const texts = events.flatMap((event) => jsonText(event) ?? []);
    const size = texts.reduce((sum, text) => sum + text.length + eventOverhead, 0);
    this.#eventRoom -= size;
    if (this.#eventRoom < 0 || !this.#takes(size)) {
      this.#eventRoom = -1;
      this.truncated = true;
      return;
    }
    const last = this.events.findLast((entry) => entry.step === step);
    if (last?.piece === this.#piece) last.texts.push(...texts);
    else this.events.push({ step, atMs: this.#nowMs(), piece: this.#piece, texts });
  }

  part(part: ReplyPart): void {
    if (part.type !== 'data') this.head = { status: part.status, headers: part.headers };
    if (part.type === 'head') return;
    this.mark('firstByte');
    this.reply.add(this.#nowMs(), part.type === 'data' ? dataOf(part) : part.body);
  }

  /** Of several calls, the last one has the marks. */
  #retried(): void {
    this.marks.delete('upstreamHead');
    this.marks.delete('firstChunk');
    this.mark('retried');
  }

  /** Sets a timing mark; `retried` keeps the last time, others the first. */
  mark(name: MarkName): void {
    if (name === 'retried' || !this.marks.has(name)) this.marks.set(name, this.#nowMs());
  }

  #addStep(name: string, kind: StepKind, text: string | undefined): void {
    const nowMs = this.#nowMs();
    const all = this.#losses?.list ?? [];
    const losses = all.slice(this.#knownLosses).map(showLoss);
    this.#knownLosses = all.length;
    const size = text === undefined ? 0 : Buffer.byteLength(text);
    const fits = size <= this.#stepRoom;
    if (fits) this.#stepRoom -= size;
    else this.truncated = true;
    this.steps.push({ name, kind, ms: nowMs - this.#stepEndMs, json: fits ? text : undefined, losses });
    // The time spent on recording doesn't count for the next step.
    this.#stepEndMs = this.#nowMs();
  }

  #nowMs(): number {
    return performance.now() - this.startedMs;
  }
}

/** The beginning of a body that is longer than a capture shows, as a copy: the rest needs no memory. */
export const cutBody = <B extends CallBody>(body: B, maxBytes: number): B | Uint8Array =>
  body.length > maxBytes ? Buffer.from(bodyBytes(body).subarray(0, maxBytes + 1)) : body;

/** Memory overhead of an event, in bytes. */
const eventOverhead = 32;

/** A custom stage may emit values that JSON can't represent; they must not fail the request. */
const jsonText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};

/** A chunk of a recorded stream. */
interface RecordedChunk {
  /** Milliseconds since the start of the request. */
  readonly atMs: number;
  readonly bytes: Buffer;
}

/** Memory overhead of a chunk, in bytes. */
const overheadBytes = 64;

/** Whether there is memory for this many more bytes, which are then taken. */
type TakeMemory = (bytes: number) => boolean;

/** A recorded stream with bounded memory. */
export class Recording {
  readonly chunks: RecordedChunk[] = [];
  /** A chunk didn't fit; later ones aren't recorded either. */
  truncated = false;
  #room: number;
  readonly #takes: TakeMemory;

  constructor(maxBytes: number, takes: TakeMemory) {
    this.#room = maxBytes;
    this.#takes = takes;
  }

  /** Estimated memory, in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, { bytes }) => sum + bytes.length + overheadBytes, 0);
  }

  add(atMs: number, data: string | Uint8Array): void {
    if (this.truncated) return;
    // Text takes at least as many bytes as it has characters.
    if (!this.#takes(Math.min(data.length, this.#room))) {
      this.truncated = true;
      return;
    }
    const bytes = Buffer.from(data);
    const room = this.#room - overheadBytes;
    this.#room = room - bytes.length;
    if (this.#room < 0) this.truncated = true;
    if (room > 0) this.chunks.push({ atMs, bytes: bytes.subarray(0, room) });
  }
}
