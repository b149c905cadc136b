import { Buffer } from 'node:buffer';
import type { Answered, ReplyProgress } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { ReplyContext } from '../model/context.ts';
import type { ModelEvent, Usage } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { type JsonObject, openBrace, openBracket, writeJson } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import { runWhole } from '../model/machine.ts';
import { cutOff } from '../model/reply.ts';
import { bufferOf, bytesOf, type RecordCutter, readSseRecords } from '../model/wire/sse.ts';
import type { AnswerChunk, SseRecord } from '../model/wire/sse-record.ts';
import type { SignatureCache } from '../routing/reasoning/signature-cache.ts';
import { AnswerReservation } from './bound-answer.ts';
import { hideCredentials } from './hide-credentials.ts';
import {
  AnswerEnd,
  addUsage,
  maxReadBytes,
  notJson,
  plainEnd,
  readUsage,
  replyIn,
  unframedEvents,
} from './read-events.ts';
import { RecordRelay } from './relay-records.ts';
import { collectedBytes, type Handlers, type StageControl, type StreamStage } from './rx/stages.ts';
import { watchOf } from './signatures.ts';
import { answerHeaders, jsonAnswer, limitHeaders } from './write-reply.ts';

const relayStep = 'relay-reply';

/** Relays the upstream's bytes, and reads faults, usage and reasoning from them. */
export const relayReply = (cache: SignatureCache): StreamStage<Answered, AnswerChunk, ReplyPart> => {
  const inspectAll = inspectWhole(cache);
  return (answered, control) => {
    const { cutter } = answered.answer;
    return cutter ? new StreamInspection(answered, control, cutter, cache) : inspectAll(answered, control);
  };
};

/**
 * Relays a stream in whole records up to the terminal one, and reads it: an error at its start is thrown,
 * since a retry or fallback may still answer; usage is reported; reasoning that a later turn may need is cached. Throws
 * `upstream-cut` if the stream closes before its answer is complete.
 */
class StreamInspection implements Handlers<AnswerChunk, ReplyPart> {
  readonly step = relayStep;
  readonly #answered: Answered;
  readonly #ending: AnswerEnd;
  readonly #records: RecordRelay;
  readonly #start: StreamStart;
  readonly #reasoning: MarkedReader | undefined;
  #isCounted = false;

  constructor(answered: Answered, control: StageControl<ReplyPart>, cutter: RecordCutter, cache: SignatureCache) {
    this.#answered = answered;
    this.#ending = new AnswerEnd(answered, control);
    this.#records = new RecordRelay(answered, cutter, (record) => faultIn(answered, record));
    this.#start = new StreamStart(answered);
    this.#reasoning = reasoningReader(answered, cache);
    // Set by an earlier attempt.
    answered.progress.writing = undefined;
  }

  next(chunk: AnswerChunk): ReplyPart | undefined {
    this.#answered.listener.chunk?.();
    const part = this.#pass(this.#records.take(bufferOf(bytesOf(chunk))));
    this.#ending.reached(this.#records.state);
    return part;
  }

  end(): ReplyPart | undefined {
    const part = this.#pass(this.#records.close());
    this.#reasoning?.complete();
    // Before the answer's end goes out, which may say what it cost.
    this.#count();
    return part;
  }

  failed(error: unknown): ReplyPart | undefined {
    return this.#pass(this.#records.close(error));
  }

  finalize(): void {
    this.#ending.finalize();
    this.#records.release();
    this.#reasoning?.finalize();
    this.#count();
  }

  #pass(bytes: Buffer | undefined): ReplyPart | undefined {
    const passing = bytes && this.#start.take(bytes);
    if (!passing) return undefined;
    const { client, progress } = this.#answered;
    this.#reasoning?.next(passing);
    if (client.numberMarker !== undefined) remember(progress, passing, client.numberMarker);
    return { type: 'data', data: passing };
  }

  #count(): void {
    if (!this.#isCounted) this.#answered.listener.counted?.(this.#start.passed ? this.#records.usage : {});
    this.#isCounted = true;
  }
}

/** The fault in a record that reports a failure. */
const faultIn = ({ plan, context, call }: Answered, record: SseRecord): Fault => {
  const events = runWhole(plan.upstream.decodeStream, withOwnLosses(context, plan.format.name), [record]);
  const error = events.find((event) => event.type === 'error');
  return error?.type === 'error' ? hideCredentials(error.fault, call.headers) : cutOff;
};

/** Keeps the chunks that the end of a stream with numbered records depends on. */
const remember = (progress: ReplyProgress, chunk: Buffer, numberMarker: string): void => {
  const { first = chunk, last = chunk, numbered = noBytes } = progress.relayed ?? {};
  progress.relayed = {
    first,
    last: chunk.includes(dataField) ? chunk : last,
    numbered: chunk.includes(numberMarker) ? chunk : numbered,
  };
};

const noBytes = Buffer.alloc(0);
const dataField = Buffer.from('data:');

/** Relays a whole reply as status 200: that is how any success is read. Throws the fault that it holds despite its success status. */
const inspectWhole =
  (cache: SignatureCache): StreamStage<Answered, AnswerChunk, ReplyPart> =>
  (answered) => {
    const { listener, answer } = answered;
    const collected = collectedBytes((body): ReplyPart => {
      const { usage, list } = readWhole(answered, Buffer.from(body.buffer, body.byteOffset, body.length), cache);
      listener.counted?.(usage);
      const headers = answerHeaders(jsonAnswer, answered, limitHeaders(answer.headers));
      return { type: 'whole', status: 200, headers, body: list ? writeJson(list) : body };
    });
    return {
      ...collected,
      step: relayStep,
      next(chunk) {
        listener.chunk?.();
        return collected.next(chunk);
      },
    };
  };

/** The properties of a whole reply. */
interface WholeReading {
  readonly usage: Usage;
  /** The reply, if it came in a list. */
  readonly list?: JsonObject | undefined;
}

/** Reads a whole reply; caches its reasoning. Throws the fault of an error in its place, or of what isn't a reply. */
const readWhole = (answered: Answered, bytes: Buffer, cache: SignatureCache): WholeReading => {
  const { plan, context, clientBody, answer, call } = answered;
  const { upstream } = plan;
  if (bytes.length > maxReadBytes && looksWhole(bytes) && !bytes.includes('"error"')) return { usage: {} };
  const { compaction } = context.request;
  const mayReason = compaction !== undefined || (upstream.mayReason?.(clientBody) ?? false);
  const end = compaction || !upstream.plainReply ? undefined : plainEnd(bytes, upstream.plainReply, mayReason);
  if (end) return { usage: addUsage(upstream, end) };
  const body = replyIn(bytes);
  const isList = bytes.find((byte) => byte === openBrace || byte === openBracket) === openBracket;
  const list = isList ? body : undefined;
  const events = body
    ? upstream.decodeReply(body, withOwnLosses(context, plan.format.name))
    : (unframedEvents(upstream, bytes, withOwnLosses(context, plan.format.name)) ?? []);
  const error = events.find((event) => event.type === 'error');
  if (error?.type === 'error') throw new FaultError(hideCredentials(error.fault, call.headers));
  if (!body) throw new FaultError(notJson(bytes, answer.status));
  if (mayReason) watchOf(answered, cache).next(events);
  return { usage: events.reduce<Usage>((usage, event) => readUsage(event, usage), {}), list };
};

/** Begins and ends with braces. */
const looksWhole = (bytes: Buffer): boolean => bytes[0] === 0x7b && bytes[bytes.length - 1] === 0x7d;

/** A stream without an event in this many bytes is taken not to begin with an error. */
const maxBufferedBytes = 64 * 1024;

/** Holds the bytes of a stream until its first event. */
class StreamStart {
  readonly #answered: Answered;
  #decoder: StreamDecoder | undefined;
  passed = false;
  #buffered: Buffer[] = [];
  #length = 0;

  constructor(answered: Answered) {
    this.#answered = answered;
  }

  /**
   * All bytes so far, as soon as they contain an event; `undefined` before. Bytes before the first event (comments, pings) are buffered
   * until it arrives. Throws if the event is an error.
   */
  take(chunk: Buffer): Buffer | undefined {
    if (this.passed) return chunk;
    if (this.#length === 0 && isPlain(chunk, this.#answered.plan.upstream.contentMarker)) {
      this.passed = true;
      return chunk;
    }
    this.#buffered.push(chunk);
    this.#length += chunk.length;
    this.#decoder ??= new StreamDecoder(this.#answered);
    const events = this.#decoder.take(chunk);
    const error = events.find((event) => event.type === 'error');
    if (error?.type === 'error') throw new FaultError(hideCredentials(error.fault, this.#answered.call.headers));
    if (events.length === 0 && this.#length <= maxBufferedBytes) return undefined;
    const buffered = Buffer.concat(this.#buffered);
    this.passed = true;
    this.#buffered = [];
    this.#decoder = undefined;
    return buffered;
  }
}

/** The chunk surely holds an event and no error, as nearly every first chunk does. Avoids parsing it. */
const isPlain = (bytes: Buffer, marker: string): boolean =>
  bytes.includes(marker) && !notPlain.some((word) => bytes.includes(word));

const notPlain = ['error', 'ping', 'base_resp'];

/** Decodes a copy of a stream. Its losses aren't reported: the client receives the original bytes. */
export class StreamDecoder {
  readonly #records;
  readonly #events;

  constructor({ context, plan }: Pick<Answered, 'context' | 'plan'>) {
    const own = withOwnLosses(context, plan.format.name);
    this.#records = readSseRecords.start(own);
    this.#events = plan.upstream.decodeStream.start(own);
  }

  take(chunk: AnswerChunk): readonly ModelEvent[] {
    const records: SseRecord[] = [];
    this.#records.step(chunk, records);
    return this.#eventsOf(records);
  }

  end(): readonly ModelEvent[] {
    const records: SseRecord[] = [];
    this.#records.end(records);
    const events = this.#eventsOf(records);
    this.#events.end(events);
    return events;
  }

  #eventsOf(records: readonly SseRecord[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const record of records) this.#events.step(record, events);
    return events;
  }
}

/** The reader of the reasoning in a relayed stream; `undefined` if it can't contain any. */
const reasoningReader = (answered: Answered, cache: SignatureCache): MarkedReader | undefined => {
  const { upstream } = answered.plan;
  if (!answered.context.request.compaction && !upstream.mayReason?.(answered.clientBody)) return undefined;
  const watch = watchOf(answered, cache);
  const decoder = new StreamDecoder(answered);
  const reservation = new AnswerReservation(answered.answerMemory);
  return new MarkedReader(upstream.reasoningMarker, {
    reserve: (bytes) => bytes <= maxWatchedBytes && reservation.tryReserve(bytes),
    read: (chunk) => watch.next(decoder.take(chunk)),
    complete: () => watch.next(decoder.end()),
    release: () => reservation.set(0),
  });
};

/** The cache holds no more reasoning than this, so longer answers aren't collected. */
const maxWatchedBytes = 32 << 20;

/** Bytes of a stream that wait for the marker of reasoning. */
const maxWaitingBytes = 64 << 10;

/** The reader of the chunks from the marker on. */
interface ChunkReading {
  /** Whether this many bytes of the stream may be collected. */
  readonly reserve: (bytes: number) => boolean;
  readonly read: (chunk: Buffer) => void;
  readonly complete: () => void;
  readonly release: () => void;
}

/**
 * Reads chunks of whole records from the first that holds `marker`, with those before it; without a `marker`, all. Stops for good if the
 * marker isn't in the first `maxWaitingBytes`, since reasoning comes first in an answer, or if the bytes so far may not be buffered.
 */
export class MarkedReader {
  readonly #marker: string | undefined;
  #reading: ChunkReading | undefined;
  readonly finalize: () => void;
  #waiting: Buffer[] = [];
  #isFound: boolean;
  #bytes = 0;

  constructor(marker: string | undefined, reading: ChunkReading) {
    this.#marker = marker;
    this.#isFound = marker === undefined;
    this.#reading = reading;
    this.finalize = reading.release;
  }

  next(chunk: Buffer): void {
    if (!this.#reading) return;
    this.#bytes += chunk.length;
    this.#waiting.push(chunk);
    this.#isFound ||= this.#marker !== undefined && chunk.includes(this.#marker);
    if (this.#isFound ? !this.#reading.reserve(this.#bytes) : this.#bytes > maxWaitingBytes) this.#reading = undefined;
    if (this.#reading && !this.#isFound) return;
    const due = this.#waiting;
    this.#waiting = [];
    for (const one of due) this.#reading?.read(one);
  }

  complete(): void {
    this.#reading?.complete();
  }
}

/** Losses of this side read are not reported: the client receives the original bytes. */
export const withOwnLosses = (context: ReplyContext, step: string): ReplyContext => ({
  ...context,
  losses: new Losses(step),
});
