import { Buffer } from 'node:buffer';
import { defer, type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { RequestMeter } from '../metrics/request-meter.ts';
import type { ModelEvent } from '../model/event.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { Losses } from '../model/loss.ts';
import { runWhole } from '../model/machine.ts';
import type { ReplyContext, UpstreamProtocol } from '../model/protocol.ts';
import { mergeUsage, type Usage } from '../model/usage.ts';
import { readSseRecords } from '../sse.ts';
import { readUsage } from './measure.ts';
import { StreamTail } from './stream-tail.ts';

/** How much is kept of a stream's beginning, where some vendors count the prompt, and of its end, where all count the answer. */
const headBytes = 8 * 1024;
const tailBytes = 64 * 1024;
/** A whole reply, or a stream's last record, of more bytes isn't read for its counts. */
const wholeBytes = 4 * 1024 * 1024;

/** What reading an answer's counts needs to know of it. */
export interface Relayed {
  readonly line: {
    readonly upstream: Pick<UpstreamProtocol, 'decodeReply' | 'decodeStream'>;
    readonly format: { readonly name: string };
  };
  readonly context: ReplyContext;
  readonly answer: { readonly streamed: boolean };
}

/**
 * What the upstream of an answer that passes through untouched says it counted. Only the two ends are read, once the answer is
 * through.
 */
export const measureRelayed =
  (answered: Relayed, meter: RequestMeter): MonoTypeOperatorFunction<Uint8Array> =>
  (source) =>
    defer(() => {
      const ends = new Ends(new StreamTail(answered.answer.streamed ? tailBytes : wholeBytes, wholeBytes));
      return source.pipe(
        tap({
          next: (chunk) => ends.add(chunk),
          complete: () => meter.usage(answered.answer.streamed ? ofStream(answered, ends) : ofWhole(answered, ends)),
        }),
      );
    });

/** The beginning and the end of a body, kept as the chunks that came. */
class Ends {
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

const ofWhole = ({ line, context }: Relayed, ends: Ends): Usage => {
  const body = ends.tail.cut ? undefined : parseJson(ends.tail.bytes.toString());
  return isJsonObject(body) ? usageOf(line.upstream.decodeReply(body, aside(context, line.format.name))) : {};
};

/** A tail that is cut off from its head is read by itself: a machine that missed something may give up. */
const ofStream = (answered: Relayed, ends: Ends): Usage => {
  if (!ends.tail.cut) return usageOf(eventsIn(answered, ends.tail.bytes));
  const beginning = usageOf(eventsIn(answered, ends.head));
  return mergeUsage(beginning, usageOf(eventsIn(answered, fromRecord(ends.tail.bytes))));
};

const eventsIn = ({ line, context }: Relayed, bytes: Uint8Array): readonly ModelEvent[] => {
  const own = aside(context, line.format.name);
  return runWhole(line.upstream.decodeStream, own, runWhole(readSseRecords, own, [bytes]));
};

/** From the first record on that begins in these bytes. */
const fromRecord = (bytes: Buffer): Uint8Array => {
  const ends = ['\n\n', '\r\n\r\n'].map((gap) => bytes.indexOf(gap)).filter((at) => at >= 0);
  return ends.length === 0 ? bytes : bytes.subarray(Math.min(...ends));
};

const usageOf = (events: readonly ModelEvent[]): Usage =>
  events.reduce<Usage>((usage, event) => readUsage(event, usage), {});

/** What only this reading loses, the client gets. */
const aside = (context: ReplyContext, step: string): ReplyContext => ({
  ...context,
  losses: new Losses(step),
});
