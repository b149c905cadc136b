import type { Buffer } from 'node:buffer';
import { map, type Observable, tap } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import {
  type Batch,
  type BlockStart,
  type MessageStart,
  type MessageStop,
  type ModelEvent,
  mergeUsage,
  plausibleUsage,
  type Usage,
} from '../model/event.ts';
import type { Fault, FaultKind } from '../model/fault.ts';
import {
  isJsonObject,
  isJsonSpace,
  type Json,
  type JsonObject,
  openBrace,
  parseJson,
  withinStack,
} from '../model/json/json.ts';
import { readJsonInPieces } from '../model/json/long-texts.ts';
import { membersFrom } from '../model/json/members.ts';
import { chain, type Running, runWhole } from '../model/machine.ts';
import type { PlainReader, PlainReply, UpstreamProtocol } from '../model/protocol.ts';
import { cutOff } from '../model/reply.ts';
import { bytesOf, readSseRecords } from '../model/wire/sse.ts';
import type { AnswerChunk } from '../model/wire/sse-record.ts';
import { errorEvent, largeBytes, toErrorEvent } from './bound-answer.ts';
import { type Handlers, inSlices, joinBytes, nonEmpty, type StageControl, type StreamStage } from './rx/stages.ts';

/**
 * Decodes the upstream's bytes into events: one batch per chunk of a stream, or one for a whole reply. A failure becomes an
 * `error` event after the events before it. Reports chunks and usage.
 */
export const readEvents = (): StreamStage<Answered, AnswerChunk, Batch> => (answered, control) =>
  new EventReader(answered, control);

class EventReader implements Handlers<AnswerChunk, Batch> {
  readonly step: string;
  readonly #listener: Answered['listener'];
  readonly #reading: Handlers<AnswerChunk, Batch>;
  #usage: Usage = {};
  #isCounted = false;

  constructor(answered: Answered, control: StageControl<Batch>) {
    const { streamed } = answered.answer;
    this.step = streamed ? 'decode-stream' : 'decode-reply';
    this.#listener = answered.listener;
    this.#reading = streamed ? new StreamReader(answered, new AnswerEnd(answered, control)) : readWhole(answered);
  }

  next(chunk: AnswerChunk): Batch | undefined {
    this.#listener.chunk?.();
    return this.#read(this.#reading.next(chunk));
  }

  end(): Batch | undefined {
    return this.#read(this.#reading.end?.());
  }

  ending(): Observable<Batch> | undefined {
    const ending = this.#reading.ending?.();
    // Before the answer's end goes out, which may say what it cost.
    if (!ending) this.#count();
    return ending?.pipe(tap({ next: (batch) => void this.#read(batch), complete: () => this.#count() }));
  }

  failed(error: unknown): Batch | undefined {
    return this.#read(this.#reading.failed?.(error));
  }

  finalize(): void {
    this.#reading.finalize?.();
    this.#count();
  }

  #read(batch: Batch | undefined): Batch | undefined {
    for (const event of batch ?? none) this.#usage = readUsage(event, this.#usage);
    return batch;
  }

  #count(): void {
    if (!this.#isCounted) this.#listener.counted?.(this.#usage);
    this.#isCounted = true;
  }
}

const none: Batch = [];

/** `known`, updated with the counts in `event`. */
export const readUsage = (event: ModelEvent, known: Usage): Usage =>
  (event.type === 'message-start' || event.type === 'message-stop') && event.usage
    ? mergeUsage(known, plausibleUsage(event.usage))
    : known;

/** `known`, updated with the usage in a record or reply that is relayed. */
export const addUsage = ({ usageIn }: UpstreamProtocol, body: JsonObject, known: Usage = {}): Usage =>
  mergeUsage(known, plausibleUsage(usageIn?.(body) ?? {}));

/** Records and replies of more bytes than this aren't decoded for their usage. */
export const maxReadBytes = 4 * 1024 * 1024;

/** In how many of a reply's last bytes its usage is, and in how many before that the reason why it ended. */
const maxEndBytes = 4 * 1024;
const finishBytes = 256;

/** The part of a whole reply of the usual form that has its usage, mostly its end; `undefined` for any other reply, and for one with reasoning. */
export const plainEnd = (
  bytes: Buffer,
  plain: PlainReply | PlainReader,
  mayReason: boolean,
): JsonObject | undefined => {
  if (typeof plain === 'function') return plain(bytes, mayReason);
  if (bytes.find((byte) => !isJsonSpace(byte)) !== openBrace) return undefined;
  const text = bytes.toString('latin1');
  const from = text.search(plain.end);
  if (from < 0 || text.length - from > maxEndBytes) return undefined;
  if (!plain.finish.test(text.slice(Math.max(0, from - finishBytes), from)) || plain.failure.test(text))
    return undefined;
  const end = mayReason && plain.reasoning.test(text) ? undefined : membersFrom(bytes, from);
  return isJsonObject(end?.usage) ? end : undefined;
};

class StreamReader implements Handlers<AnswerChunk, Batch> {
  readonly #answered: Answered;
  readonly #ending: AnswerEnd;
  readonly #reading: Running<AnswerChunk, ModelEvent>;
  readonly #callIds: AnswerIds = new Map();

  constructor(answered: Answered, ending: AnswerEnd) {
    const { readRecords, decodeStream } = answered.plan.graph;
    this.#answered = answered;
    this.#ending = ending;
    this.#reading = chain(readRecords.work, decodeStream.work).start(answered.context);
  }

  next(chunk: AnswerChunk): Batch | undefined {
    const events: ModelEvent[] = [];
    try {
      withinStack('upstream-garbled', tooDeep, () => this.#reading.step(chunk, events));
    } catch (error) {
      events.push(...toErrorEvent(error));
    }
    const last = events.at(-1)?.type;
    if (last === 'error') reportRefusal(this.#answered, bytesOf(chunk));
    this.#ending.reached(last === 'message-stop' ? 'ended' : this.#reading.settled?.() ? 'finished' : 'open');
    return nonEmpty(normalizeEvents(events, this.#callIds));
  }

  end(): Batch | undefined {
    const events: ModelEvent[] = [];
    this.#reading.end(events);
    return nonEmpty(normalizeEvents(events, this.#callIds));
  }

  failed(error: unknown): Batch | undefined {
    const ended = this.end();
    if (this.#answered.plan.upstream.endsByClosing && this.#ending.state === 'finished') return ended;
    const last = ended?.at(-1);
    // What the upstream said says more than how its connection ended.
    const isTold = last?.type === 'error' && last.fault !== cutOff && last.fault.kind !== 'upstream-garbled';
    return isTold ? [last] : toErrorEvent(error);
  }

  finalize(): void {
    this.#ending.finalize();
  }
}

const tooDeep = "The upstream's answer is nested too deeply.";

/** One for all replies: a decoder is expensive to create, and holds no state between whole texts. */
const utf8 = new TextDecoder();

/** Reads a whole reply at its end; a large one in slices. */
const readWhole = (answered: Answered): Handlers<AnswerChunk, Batch> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    next(part) {
      const chunk = bytesOf(part);
      chunks.push(chunk);
      bytes += chunk.length;
      return undefined;
    },
    end() {
      if (bytes >= largeBytes) return undefined;
      const body = joinBytes(chunks);
      return decodeWhole(answered, replyIn(body), () => body);
    },
    ending() {
      if (bytes < largeBytes) return undefined;
      const work = readJsonInPieces(chunks);
      return inSlices('decode-reply', () => work.next()).pipe(
        map(({ value, texts }) => {
          answered.context.longTexts = texts;
          return decodeWhole(answered, replyOf(value), () => joinBytes(chunks));
        }),
      );
    },
    failed: toErrorEvent,
  };
};

/** `bytes`: those that the reply was read from. */
const decodeWhole = (answered: Answered, reply: JsonObject | undefined, bytes: () => Uint8Array): Batch => {
  const events = reply ? eventsIn(answered, reply) : recordsIn(answered, bytes());
  if (events.at(-1)?.type === 'error') reportRefusal(answered, bytes());
  return events;
};

const eventsIn = ({ plan, context }: Answered, body: JsonObject): Batch => {
  try {
    const events = withinStack('upstream-garbled', tooDeep, () => plan.graph.decodeReply.work(body, context));
    return normalizeEvents(events);
  } catch (error) {
    return toErrorEvent(error);
  }
};

/** The events of a whole body that isn't one reply: a list of a stream's records, or records without their framing. */
const recordsIn = ({ plan, context, answer }: Answered, bytes: Uint8Array): Batch =>
  unframedEvents(plan.upstream, bytes, context) ?? [errorEvent(notJson(bytes, answer.status))];

/** As `recordsIn`; `undefined` for a body without an answer and without an error. */
export const unframedEvents = (
  { decodeStream }: UpstreamProtocol,
  bytes: Uint8Array,
  context: ReplyContext,
): Batch | undefined => {
  const events = normalizeEvents(runWhole(chain(readSseRecords, decodeStream), context, [bytes]));
  const last = events.at(-1);
  const isUnread = last?.type === 'error' && unread.has(last.fault.kind);
  return last && !isUnread ? events : undefined;
};

/** Faults of what isn't a reply at all. */
const unread: ReadonlySet<FaultKind> = new Set(['upstream-cut', 'upstream-garbled']);

const reportRefusal = ({ listener, answer: { status, headers, streamed } }: Answered, body: Uint8Array): void =>
  listener.refused?.({ isWhole: !streamed, status, headers, body });

/** The reply in a whole body; `undefined` if it isn't JSON. */
export const replyIn = (bytes: Uint8Array): JsonObject | undefined => replyOf(parseJson(utf8.decode(bytes)));

/** Some servers send a list that holds their error. Several items are a stream's records. */
const replyOf = (body: Json | undefined): JsonObject | undefined => {
  const reply: Json | undefined = Array.isArray(body) && body.length === 1 ? body[0] : body;
  return isJsonObject(reply) ? reply : undefined;
};

/** The fault of a body that isn't a JSON object. */
export const notJson = (body: Uint8Array, status: number): Fault => {
  const what = body.length === 0 ? 'an empty body' : "a body that isn't a JSON object";
  return { kind: 'upstream-garbled', message: `The upstream answered with ${what} (status ${status}).` };
};

/**
 * Corrects events that no client could handle. Each tool call gets a unique id (some upstreams use the tool's name for all), a
 * `tool-call` finish without calls becomes `end`, and counts that aren't whole numbers are dropped. A call without a tool's name
 * becomes an `error`. `ids` holds the ids of the answer's calls so far, if this isn't all of it; those of this batch are added.
 */
export const normalizeEvents = (batch: Batch, ids?: AnswerIds): Batch => {
  if (!batch.some(mayNeedNormalizing)) return batch;
  const known = ids ?? new Map();
  return batch.map((event) => normalize(event, known));
};

/**
 * The ids of an answer's calls, each with the next suffix to try for a call of the same id. Keeps the time linear for an answer
 * whose calls all have one id.
 */
export type AnswerIds = Map<string, number>;

const mayNeedNormalizing = ({ type }: ModelEvent): boolean =>
  type === 'block-start' || type === 'message-start' || type === 'message-stop';

const normalize = (event: ModelEvent, ids: AnswerIds): ModelEvent => {
  if (event.type === 'block-start') return withUniqueId(event, ids);
  return event.type === 'message-start' || event.type === 'message-stop' ? plausibleEnd(event, ids.size > 0) : event;
};

const nameless: Fault = { kind: 'upstream-garbled', message: 'The upstream called a tool without its name.' };

const withUniqueId = (event: BlockStart, ids: AnswerIds): ModelEvent => {
  if (event.block.type !== 'tool-call') return event;
  const { id, name } = event.block;
  if (name === '') return { type: 'error', fault: nameless };
  let own = id || 'call_1';
  const next = ids.get(own);
  if (next !== undefined) {
    let count = next;
    for (own = `${id || 'call'}_${count}`; ids.has(own); own = `${id || 'call'}_${count}`) count += 1;
    ids.set(id || 'call_1', count + 1);
  }
  ids.set(own, 2);
  return own === id ? event : { ...event, block: { ...event.block, id: own } };
};

const plausibleEnd = (event: MessageStart | MessageStop, hasCalls: boolean): MessageStart | MessageStop => {
  const { usage } = event;
  const plausible = usage && plausibleUsage(usage);
  const counted = plausible && plausible !== usage ? { ...event, usage: plausible } : event;
  return counted.type === 'message-stop' && counted.finish === 'tool-call' && !hasCalls
    ? { ...counted, finish: 'end' }
    : counted;
};

/** `finished`: the content is complete, usage may follow. `ended`: the terminal record was read; the rest is ignored. */
export type EndState = 'open' | 'finished' | 'ended';

/** Silence after which a finished answer counts as ended, in milliseconds. */
const silenceMs = 1_000;

/**
 * Ends a stream when its answer ends, even if the upstream keeps the connection open: after the terminal record at once, after a
 * finished answer when nothing follows. The rest is read and dropped, so that the connection can be reused.
 */
export class AnswerEnd {
  state: EndState = 'open';
  readonly #answered: Pick<Answered, 'answer' | 'backpressure'>;
  readonly #control: StageControl<never>;
  #timer: NodeJS.Timeout | undefined;

  constructor(answered: Pick<Answered, 'answer' | 'backpressure'>, control: StageControl<never>) {
    this.#answered = answered;
    this.#control = control;
  }

  /** Called with the state after each chunk. */
  reached(state: EndState): void {
    this.state = state;
    this.finalize();
    if (state === 'ended') this.#end();
    else if (state === 'finished') this.#wait();
  }

  /** Called when the stream is over. */
  finalize(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      // A body that is paused for a slow client isn't silent.
      if (this.#answered.backpressure.paused) this.#wait();
      else this.#end();
    }, silenceMs);
  }

  #end(): void {
    this.#answered.answer.drain();
    this.#control.complete();
  }
}
