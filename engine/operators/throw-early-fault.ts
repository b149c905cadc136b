import { Buffer } from 'node:buffer';
import { defer, filter, type MonoTypeOperatorFunction, map } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import { Losses } from '../model/loss.ts';
import type { SseRecord } from '../model/protocol.ts';
import { readSseRecords } from '../sse.ts';

/** A stream whose first event is longer than this, in bytes, is none that begins with an error. */
const mostHeld = 64 * 1024;

/**
 * Throws the error that a stream begins with though its status is good, where the stream passes as it comes: nothing of it has
 * reached the client, so somebody else may answer. What comes before the first event (comments, pings) waits for it.
 */
export const throwEarlyFault =
  (answered: Answered): MonoTypeOperatorFunction<Uint8Array> =>
  (source) => {
    if (!answered.answer.streamed) return source;
    return defer(() => {
      let beginning: Beginning | undefined = new Beginning(answered);
      return source.pipe(
        map((chunk) => {
          if (beginning === undefined) return chunk;
          const whole = beginning.take(chunk);
          if (whole !== undefined) beginning = undefined;
          return whole;
        }),
        filter((chunk) => chunk !== undefined),
      );
    });
  };

/** The bytes of a stream up to its first event. */
class Beginning {
  readonly #answered: Answered;
  #reader: { readonly take: (chunk: Uint8Array) => readonly ModelEvent[] } | undefined;
  readonly #held: Uint8Array[] = [];
  #length = 0;

  constructor(answered: Answered) {
    this.#answered = answered;
  }

  /** All bytes so far, once there is an event that isn't an error. Throws the error. */
  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#length === 0 && isPlain(chunk)) return chunk;
    this.#held.push(chunk);
    this.#length += chunk.length;
    this.#reader ??= readerOf(this.#answered);
    const events = this.#reader.take(chunk);
    const error = events.find((event) => event.type === 'error');
    if (error?.type === 'error') throw new FaultError(error.fault);
    return events.length > 0 || this.#length > mostHeld ? Buffer.concat(this.#held) : undefined;
  }
}

/** Shows at a glance, as nearly all streams do, that it begins with an event, and that none of the events in it is an error. */
const isPlain = (chunk: Uint8Array): boolean => {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  return bytes.includes('data:') && !bytes.includes('error') && !bytes.includes('ping');
};

const readerOf = ({ context, line }: Answered) => {
  // What only this reading loses, the client gets.
  const aside = { ...context, losses: new Losses(line.format.name) };
  const records = readSseRecords.start(aside);
  const events = line.upstream.decodeStream.start(aside);
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
