import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Decoded, Ready, Routed } from '../exchange.ts';
import type { ModelEvent } from '../model/event.ts';
import { type Fault, faultOf } from '../model/fault.ts';
import type { Losses } from '../model/loss.ts';
import type { Headers } from '../model/protocol.ts';
import type { ModelRequest } from '../model/request.ts';
import type { ReplyPart } from '../reply-part.ts';
import type { UpstreamCall } from '../upstream/call.ts';
import { showLoss } from './request-record.ts';
import type { SummaryLoss } from './summary.ts';
import { Tape } from './tape.ts';

/** The client's request as it came. */
export interface RecordedClient {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export type StepKind = 'decode' | 'route' | 'stage' | 'encode';

/** What a step made of the request. */
export interface RecordedStep {
  readonly name: string;
  readonly kind: StepKind;
  readonly ms: number;
  /** JSON text; `undefined` when there was no room for it. */
  readonly json: string | undefined;
  readonly losses: readonly SummaryLoss[];
}

/** What a step made of one piece of the answer. */
export interface RecordedEvents {
  readonly step: string;
  readonly atMs: number;
  /** The piece that it came from, counted from 1. */
  readonly piece: number;
  /** JSON texts, one for each event. */
  readonly texts: string[];
}

/** A call to an upstream, and how far its answer was recorded. */
export interface RecordedCall {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array;
  status?: number;
  responseHeaders?: Headers;
  readonly tape: Tape;
  /** `abandoned`: nobody wanted the rest. */
  ended: 'complete' | 'failed' | 'abandoned';
  fault?: Fault;
}

/** Moments of a request, in the order in which they are reached. */
export const markNames = [
  'received',
  'decoded',
  'routed',
  'encoded',
  'called',
  'upstreamHead',
  'firstChunk',
  'firstByte',
  'end',
] as const;
export type MarkName = (typeof markNames)[number];

/** Holds what happens to one captured request; each of its parts has a bounded size. */
export class Recorder {
  readonly client: RecordedClient;
  readonly steps: RecordedStep[] = [];
  readonly events: RecordedEvents[] = [];
  readonly marks = new Map<MarkName, number>([['received', 0]]);
  readonly reply: Tape;
  /** The last call, where there was more than one. */
  call: RecordedCall | undefined;
  head: { readonly status: number; readonly headers: Headers } | undefined;
  /** The credential that went upstream, and whose it is. */
  credential: { readonly provider: string; readonly apiKey: string } | undefined;
  /** A step or some events didn't fit. */
  truncated = false;
  readonly #startedMs = performance.now();
  readonly #maxBytes: number;
  #losses: Losses | undefined;
  #request: ModelRequest | undefined;
  #knownLosses = 0;
  #stepMs = 0;
  #stepRoom: number;
  #eventRoom: number;
  #piece = 0;

  /** `maxBytes` bounds each stream; the steps may take eight times that together, and the events four times. */
  constructor(client: RecordedClient, maxBytes: number) {
    this.client = client;
    this.#maxBytes = maxBytes;
    this.#stepRoom = 8 * maxBytes;
    this.#eventRoom = 4 * maxBytes;
    this.reply = new Tape(maxBytes);
  }

  decoded({ request }: Decoded): void {
    this.mark('decoded');
    this.step('decode', 'decode', request);
  }

  /** A destination: the first one, or that of a further try. */
  routed({ request, context }: Routed): void {
    this.#losses = context.losses;
    this.#knownLosses = 0;
    this.mark('routed');
    this.#request = request;
    this.step('route', 'route', request);
  }

  /** What became of earlier reasoning: a step where it changed something. */
  settled(routed: Routed): void {
    const { request, context, resolution, apiKey } = routed;
    // Each try has losses of its own.
    if (context.losses !== this.#losses) this.routed(routed);
    this.credential = { provider: resolution.provider.name, apiKey };
    if (request !== this.#request) this.step('signatures', 'stage', request);
  }

  encoded({ call, line }: Ready): void {
    this.mark('encoded');
    this.#addStep(line.format.name, 'encode', call.body);
  }

  /** The request as a step left it. */
  step(name: string, kind: StepKind, value: unknown): void {
    this.#addStep(name, kind, jsonText(value));
  }

  called({ url, method = 'POST', headers, body }: UpstreamCall): RecordedCall {
    this.mark('called');
    const tape = new Tape(this.#maxBytes);
    this.call = { url, method, headers, body, tape, ended: 'abandoned' };
    this.events.length = 0;
    return this.call;
  }

  /** A piece of the upstream's answer. */
  piece(call: RecordedCall, bytes: Uint8Array): void {
    this.mark('firstChunk');
    this.#piece += 1;
    call.tape.add(this.#nowMs(), bytes);
  }

  /** The call's answer is over, well or with an error. */
  ended(call: RecordedCall, error?: unknown): void {
    // What comes now comes from no piece.
    this.#piece += 1;
    call.ended = error === undefined ? 'complete' : 'failed';
    if (error !== undefined) call.fault = faultOf(error);
  }

  /** Events that a step gave; those from one piece of the answer stand together. */
  gave(step: string, events: readonly ModelEvent[]): void {
    if (events.length === 0 || this.#eventRoom < 0) return;
    const texts = events.flatMap((event) => jsonText(event) ?? []);
    this.#eventRoom -= texts.reduce((sum, text) => sum + text.length + eventOverhead, 0);
    if (this.#eventRoom < 0) {
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
    this.reply.add(this.#nowMs(), part.type === 'data' ? part.data : part.body);
  }

  /** Notes when this happened first. */
  mark(name: MarkName): void {
    if (name === 'called' || name === 'end' || !this.marks.has(name)) this.marks.set(name, this.#nowMs());
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
    this.steps.push({ name, kind, ms: nowMs - this.#stepMs, json: fits ? text : undefined, losses });
    // What recording took isn't the next step's time.
    this.#stepMs = this.#nowMs();
  }

  #nowMs(): number {
    return performance.now() - this.#startedMs;
  }
}

/** What one event takes beside its text. */
const eventOverhead = 32;

/** What a stage of somebody else's gives may be anything, and must not end the request here. */
const jsonText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};
