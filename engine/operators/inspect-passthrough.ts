import { Buffer } from 'node:buffer';
import { defer, filter, type MonoTypeOperatorFunction, map } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyContext } from '../model/context.ts';
import type { ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import { runWhole } from '../model/machine.ts';
import type { SseRecord, UpstreamProtocol } from '../model/protocol.ts';
import { readSseRecords } from '../model/sse.ts';
import { mergeUsage, type Usage } from '../model/usage.ts';
import type { Observer } from '../observer.ts';
import { hideCredentials } from './hide-credentials.ts';
import { readUsage } from './observe.ts';
import { operate } from './rx/operate.ts';
import { StreamTail } from './stream-tail.ts';

/** A stream without an event in this many bytes is taken not to begin with an error. */
const maxHeldBytes = 64 * 1024;

/**
 * Throws the error that a passed-through stream begins with despite its success status. Nothing has reached the client yet, so
 * a retry or fallback may answer. Bytes before the first event (comments, pings) are held until it arrives.
 */
export const throwEarlyFault =
  (answered: Answered): MonoTypeOperatorFunction<Uint8Array> =>
  (source) => {
    if (!answered.answer.streamed) return source;
    return defer(() => {
      let start: StreamStart | undefined = new StreamStart(answered);
      return source.pipe(
        map((chunk) => {
          if (start === undefined) return chunk;
          const bytes = start.take(chunk);
          if (bytes !== undefined) start = undefined;
          return bytes;
        }),
        filter((chunk) => chunk !== undefined),
      );
    });
  };

/** Holds the bytes of a stream until its first event. */
class StreamStart {
  readonly #answered: Answered;
  #reader: { readonly take: (chunk: Uint8Array) => readonly ModelEvent[] } | undefined;
  readonly #held: Uint8Array[] = [];
  #length = 0;

  constructor(answered: Answered) {
    this.#answered = answered;
  }

  /** All bytes so far, as soon as they hold an event; `undefined` before. Throws if the event is an error. */
  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#length === 0 && isPlain(chunk)) return chunk;
    this.#held.push(chunk);
    this.#length += chunk.length;
    this.#reader ??= readerOf(this.#answered);
    const events = this.#reader.take(chunk);
    const error = events.find((event) => event.type === 'error');
    if (error?.type === 'error') throw new FaultError(hideCredentials(error.fault, this.#answered.call.headers));
    return events.length > 0 || this.#length > maxHeldBytes ? Buffer.concat(this.#held) : undefined;
  }
}

/** The chunk surely holds an event and no error, as nearly every first chunk does. Avoids parsing it. */
const isPlain = (chunk: Uint8Array): boolean => {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  return bytes.includes('data:') && !bytes.includes('error') && !bytes.includes('ping');
};

const readerOf = ({ context, plan }: Answered) => {
  const own = withOwnLosses(context, plan.format.name);
  const records = readSseRecords.start(own);
  const events = plan.upstream.decodeStream.start(own);
  return {
    take(chunk: Uint8Array): readonly ModelEvent[] {
      const found: SseRecord[] = [];
      records.step(chunk, found);
      const out: ModelEvent[] = [];
      for (const record of found) events.step(record, out);
      return out;
    },
  };
};

/** Bytes kept of a stream's start, where some vendors report prompt tokens, and of its end, where all report the answer's. */
const headBytes = 8 * 1024;
const tailBytes = 64 * 1024;
/** Usage isn't read from a whole reply, or a stream's last record, of more bytes than this. */
const maxReadBytes = 4 * 1024 * 1024;

/** The parts of an answer that reading its usage needs. */
interface PassedThrough {
  readonly plan: {
    readonly upstream: Pick<UpstreamProtocol, 'decodeReply' | 'decodeStream'>;
    readonly format: { readonly name: string };
  };
  readonly context: ReplyContext;
  readonly answer: { readonly streamed: boolean };
}

/** Reports the usage of a passed-through answer. Parses only the answer's start and end, after it has passed. */
export const measurePassThrough = (answered: PassedThrough, observer: Observer): MonoTypeOperatorFunction<Uint8Array> =>
  operate(() => {
    const measure = (): void => {
      observer.usage(answered.answer.streamed ? streamUsage(answered, kept) : replyUsage(answered, kept));
    };
    const kept = new HeadAndTail(new StreamTail(answered.answer.streamed ? tailBytes : maxReadBytes, maxReadBytes));
    return {
      next(chunk) {
        kept.add(chunk);
        return chunk;
      },
      end() {
        measure();
        return undefined;
      },
      failed(error) {
        measure();
        throw error;
      },
    };
  });

/** The start and the end of a body. */
class HeadAndTail {
  readonly tail: StreamTail;
  readonly #head: Uint8Array[] = [];
  #headLength = 0;

  constructor(tail: StreamTail) {
    this.tail = tail;
  }

  add(chunk: Uint8Array): void {
    if (this.#headLength < headBytes) {
      this.#head.push(chunk);
      this.#headLength += chunk.length;
    }
    this.tail.add(chunk);
  }

  get head(): Uint8Array {
    return Buffer.concat(this.#head);
  }
}

const replyUsage = ({ plan, context }: PassedThrough, { tail }: HeadAndTail): Usage => {
  const body = tail.cut ? undefined : parseJson(tail.bytes.toString());
  return isJsonObject(body) ? usageOf(plan.upstream.decodeReply(body, withOwnLosses(context, plan.format.name))) : {};
};

/** Where bytes are missing between head and tail, each is decoded by its own machine: one machine could give up at the gap. */
const streamUsage = (answered: PassedThrough, { head, tail }: HeadAndTail): Usage => {
  if (!tail.cut) return usageOf(eventsIn(answered, tail.bytes));
  return mergeUsage(usageOf(eventsIn(answered, head)), usageOf(eventsIn(answered, fromRecord(tail.bytes))));
};

const eventsIn = ({ plan, context }: PassedThrough, bytes: Uint8Array): readonly ModelEvent[] => {
  const own = withOwnLosses(context, plan.format.name);
  return runWhole(plan.upstream.decodeStream, own, runWhole(readSseRecords, own, [bytes]));
};

/** The bytes from the first record that begins in them. */
const fromRecord = (bytes: Buffer): Uint8Array => {
  const gaps = ['\n\n', '\r\n\r\n'].map((gap) => bytes.indexOf(gap)).filter((at) => at >= 0);
  return gaps.length === 0 ? bytes : bytes.subarray(Math.min(...gaps));
};

const usageOf = (events: readonly ModelEvent[]): Usage =>
  events.reduce<Usage>((usage, event) => readUsage(event, usage), {});

/** Losses of this side read are not reported: the client receives the original bytes. */
const withOwnLosses = (context: ReplyContext, step: string): ReplyContext => ({ ...context, losses: new Losses(step) });
