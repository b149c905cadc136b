import { Observable } from 'rxjs';
import type { Limits } from '../config/schema.ts';
import type { Answered, Ready } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, fail } from '../model/fault.ts';
import { openBrace, openBracket } from '../model/json/json.ts';
import { bytesOf, lengthOf, type RecordCutter } from '../model/wire/sse.ts';
import type { AnswerChunk } from '../model/wire/sse-record.ts';
import type { MemoryReservation } from '../runtime/memory-budget.ts';
import { answersFull } from '../upstream/health/failure-class.ts';
import { relaysOf } from './decode.ts';
import type { Handlers, StreamStage } from './rx/stages.ts';

/**
 * What a part of an answer may take without being counted, in bytes. Nearly all answers are smaller, so they are served while
 * large ones use up the memory for answers.
 */
const uncountedBytes = 64 * 1024;

/**
 * Memory per byte of what is held of an answer. Converted, it is also text, parsed values, events and the client's reply, and garbage
 * that isn't collected before the next one needs memory; whole replies are converted one at a time.
 */
const copiesOf = { records: 8, whole: 4, relayed: 2, content: 2, bytes: 1 } as const;

/** The memory that one step of an answer reserves, of that for all answers. */
export class AnswerReservation {
  readonly #memory: MemoryReservation;
  readonly #copies: number;
  #counted = 0;

  constructor(memory: MemoryReservation, as: keyof typeof copiesOf = 'bytes') {
    this.#memory = memory;
    this.#copies = copiesOf[as];
  }

  /** Reserves this many bytes in all. Throws if there is no memory for more. */
  reserve(bytes: number): void {
    const refusal = this.refusal(bytes);
    if (refusal) throw refusal;
  }

  /** Reserves this many bytes in all; false if there is no memory for more. */
  tryReserve(bytes: number): boolean {
    return this.refusal(bytes) === undefined;
  }

  /** Reserves this many bytes in all; the fault if there is no memory for more. */
  refusal(bytes: number): FaultError | undefined {
    const more = this.#countedOf(bytes) - this.#counted;
    if (more > 0) {
      const refusal = this.#memory.take(more);
      if (refusal) return new FaultError(refusal === 'exhausted' ? exhausted : exceedsMemory(this.#memory.maxBytes));
      this.#counted += more;
    } else this.set(bytes);
    return undefined;
  }

  /** Sets it to this many bytes, which is always granted. */
  set(bytes: number): void {
    const counted = this.#countedOf(bytes);
    if (counted === this.#counted) return;
    this.#memory.set(this.#memory.bytes + counted - this.#counted);
    this.#counted = counted;
  }

  #countedOf(bytes: number): number {
    return bytes > uncountedBytes ? (bytes - uncountedBytes) * this.#copies : 0;
  }
}

const exhausted: Fault = {
  kind: 'unavailable',
  code: answersFull,
  message:
    'The answers of active requests use all the memory for answers. LIMITS.answersBytes in the configuration sets the limit.',
  headers: { 'retry-after': '1' },
};

const exceedsMemory = (maxBytes: number): Fault => ({
  kind: 'upstream-garbled',
  message: `The upstream's answer needs more than the ${maxBytes} bytes of memory for all answers. LIMITS.answersBytes in the configuration sets the limit.`,
});

/**
 * The most objects and lists in one record or whole reply: those of a long answer with the probabilities of all its tokens. Braces and
 * brackets in texts count, too. Parsing more would keep the event loop from other requests.
 */
const maxNodes = 200_000;

/** Counts the objects and lists in JSON text as it arrives. */
class NodeBound {
  #nodes = 0;

  /** Counts those that begin in a chunk. Throws if there are too many. */
  add(chunk: Uint8Array): void {
    this.#count(chunk, openBrace);
    this.#count(chunk, openBracket);
  }

  reset(): void {
    this.#nodes = 0;
  }

  #count(chunk: Uint8Array, byte: number): void {
    for (let at = chunk.indexOf(byte); at >= 0; at = chunk.indexOf(byte, at + 1)) {
      this.#nodes += 1;
      if (this.#nodes > maxNodes)
        fail('upstream-garbled', `The upstream's answer has more than ${maxNodes} objects and lists in one piece.`);
    }
  }
}

/** A client that doesn't stream gets one whole reply, even if the upstream streams. */
const isCollected = ({ answer, progress }: Answered): boolean => !answer.streamed || !progress.streaming;

/**
 * Bounds what later steps collect of an answer, and counts it. The bounds hold for each record of a stream, and for an answer that
 * becomes one whole reply. Throws `upstream-garbled` beyond a bound and `unavailable` beyond the memory for answers, which ends the
 * upstream call. A large whole answer waits in a queue for its end, since most of its conversion follows.
 */
export const boundReply =
  ({
    recordBytes,
    replyBytes,
  }: Pick<Limits, 'recordBytes' | 'replyBytes'>): StreamStage<Answered, AnswerChunk, AnswerChunk> =>
  (answered) =>
    new ReplyBound(answered, recordBytes, replyBytes);

/** A class, as all stages that each chunk passes: its stream touches one object then, in place of one per function. */
class ReplyBound implements Handlers<AnswerChunk, AnswerChunk> {
  readonly #recordBytes: number;
  readonly #replyBytes: number;
  readonly #isRelayed: boolean;
  readonly #record: RecordCutter | undefined;
  readonly #collected: boolean;
  readonly #reservation: AnswerReservation;
  readonly #nodes: NodeBound | undefined;
  #bytes = 0;
  #leaveQueue: (() => void) | undefined;

  constructor(answered: Answered, recordBytes: number, replyBytes: number) {
    const { answer, relays, answerMemory } = answered;
    this.#recordBytes = recordBytes;
    this.#replyBytes = replyBytes;
    this.#isRelayed = relays.reply;
    this.#record = answer.cutter;
    this.#collected = isCollected(answered);
    this.#reservation = new AnswerReservation(
      answerMemory,
      relays.reply ? 'relayed' : answer.cutter ? 'records' : 'whole',
    );
    this.#nodes = relays.reply ? undefined : new NodeBound();
  }

  next(part: AnswerChunk): AnswerChunk {
    const chunk = this.#isRelayed ? bytesOf(part) : part;
    const record = this.#record;
    this.#bytes += lengthOf(chunk);
    if (this.#collected && this.#bytes > this.#replyBytes) {
      throw tooLarge("The upstream's answer", this.#replyBytes, 'replyBytes');
    }
    if (chunk instanceof Uint8Array) {
      record?.take(chunk);
      if (record && record.pendingBytes > this.#recordBytes) {
        throw tooLarge("A record of the upstream's stream", this.#recordBytes, 'recordBytes');
      }
      // A record that begins or ends in this chunk is short, or has been counted but for this part.
      if (record && record.pendingBytes < chunk.length) this.#nodes?.reset();
      else this.#nodes?.add(chunk);
    } else {
      for (const { data } of chunk.records) {
        this.#nodes?.reset();
        this.#nodes?.add(data);
      }
    }
    this.#reservation.reserve(this.#collected ? this.#bytes : (record?.pendingBytes ?? 0));
    return chunk;
  }

  ending(): Observable<AnswerChunk> | undefined {
    if (this.#record || this.#bytes < largeBytes) return undefined;
    return new Observable((subscriber) => {
      this.#leaveQueue = conversions.enter(() => subscriber.complete());
    });
  }

  finalize(): void {
    this.#reservation.set(0);
    this.#leaveQueue?.();
  }
}

/**
 * Bounds a message of an upstream's WebSocket until it is complete, and counts it: as the record of a stream that it becomes. The
 * returned function is told its bytes so far, and returns the fault beyond a bound.
 */
export const boundMessage = (
  ready: Ready,
  { recordBytes }: Pick<Limits, 'recordBytes'>,
): ((bytes: number) => FaultError | undefined) => {
  const reservation = new AnswerReservation(ready.answerMemory, relaysOf(ready, true).reply ? 'relayed' : 'records');
  return (bytes) =>
    bytes > recordBytes
      ? tooLarge("A record of the upstream's stream", recordBytes, 'recordBytes')
      : reservation.refusal(bytes);
};

/**
 * Bounds the content of a converted stream, and counts it. Stages buffer tool calls and some client formats repeat the whole text at
 * the end, so all of it may be in memory. Beyond a bound, an `error` event replaces the batch.
 */
export const boundContent =
  ({ replyBytes }: Pick<Limits, 'replyBytes'>): StreamStage<Answered, Batch, Batch> =>
  (answered) =>
    new ContentBound(answered, replyBytes);

class ContentBound implements Handlers<Batch, Batch> {
  readonly #replyBytes: number;
  readonly #reservation: AnswerReservation;
  /** Otherwise its bytes count already, for all that becomes of them. */
  readonly #counts: boolean;
  #length = 0;

  constructor(answered: Answered, replyBytes: number) {
    this.#replyBytes = replyBytes;
    this.#reservation = new AnswerReservation(answered.answerMemory, 'content');
    this.#counts = !isCollected(answered);
  }

  next(batch: Batch): Batch {
    for (const event of batch) this.#length += contentLength(event);
    try {
      if (this.#length > this.#replyBytes) {
        throw tooLarge("The content of the upstream's stream", this.#replyBytes, 'replyBytes');
      }
      if (this.#counts) this.#reservation.reserve(this.#length);
    } catch (error) {
      return toErrorEvent(error);
    }
    return batch;
  }

  finalize(): void {
    this.#reservation.set(0);
  }
}

/** A fault as an event, for steps whose earlier events the client gets before it; any other error is thrown. */
export const toErrorEvent = (error: unknown): Batch => {
  if (error instanceof FaultError) return [errorEvent(error.fault)];
  throw error;
};

export const errorEvent = (fault: Fault): ModelEvent => ({ type: 'error', fault });

/** The length of an event's content in characters; for the rarer kinds, that of its JSON. */
export const contentLength = (event: ModelEvent): number => {
  switch (event.type) {
    case 'text-delta':
    case 'thinking-delta':
      return event.text.length;
    case 'input-delta':
      return event.json.length;
    case 'block-stop':
    case 'error':
      return 0;
    case 'message-start':
    case 'block-start':
    case 'signature-delta':
    case 'citation-delta':
    case 'opaque-delta':
    case 'message-stop':
      return JSON.stringify(event).length;
  }
};

const tooLarge = (what: string, bytes: number, setting: keyof Limits): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `${what} is larger than ${bytes} bytes. LIMITS.${setting} in the configuration sets the limit.`,
  });

/** From this many bytes on, the conversion of a whole answer would hold the event loop for long enough to be noticed. */
export const largeBytes = 1024 * 1024;

/** The longest rest after a piece of work, in milliseconds. */
const maxRestMs = 2_000;

/** Lets large pieces of work run one at a time. After each, other requests have the event loop for as long as it was held. */
class WorkQueue {
  readonly #waiting = new Set<() => void>();
  #current: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Calls `work` when no other is at work. It is until the returned function is called, which also withdraws it. */
  enter(work: () => void): () => void {
    this.#waiting.add(work);
    this.#rest(0);
    return () => {
      this.#waiting.delete(work);
      if (this.#current !== work) return;
      this.#current = undefined;
      this.#rest(0);
    };
  }

  #rest(ms: number): void {
    if (!this.#current) this.#timer ??= setTimeout(() => this.#next(), ms);
  }

  #next(): void {
    const [work] = this.#waiting;
    if (work) {
      this.#waiting.delete(work);
      this.#current = work;
      const fromMs = performance.now();
      try {
        work();
      } finally {
        this.#timer = undefined;
        // Set although nothing may wait: what comes next rests, too.
        this.#rest(Math.min(performance.now() - fromMs, maxRestMs));
      }
    } else this.#timer = undefined;
  }
}

const conversions = new WorkQueue();
