import { defer, map, type OperatorFunction, pipe, tap } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { cutOff } from '../model/reply.ts';
import type { ReplyPart } from '../reply-part.ts';
import { collectBytes } from './collect-bytes.ts';
import { jsonHeaders, limitHeaders, routeHeaders } from './headers.ts';
import { hideCredentials } from './hide-credentials.ts';
import { notJson } from './read-events.ts';

/** Whether the answer may reach the client as it comes: the same format, in the form asked for, under the client's own names. */
export const mayRelay = ({ relays, answer, delivery, context }: Answered): boolean =>
  relays.reply && answer.streamed === delivery.streaming && !context.names.changed;

/** The upstream's bytes, untouched. */
export const relay = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  answered.answer.streamed ? relayStream(answered) : relayWhole(answered);

const relayStream = ({ client, delivery }: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    watchEnd(client.terminators),
    tap((chunk) => {
      delivery.betweenRecords = endsRecord(chunk);
    }),
    map((data): ReplyPart => ({ type: 'data', data })),
  );

/** A chunk that ends in an empty line. One whose empty line is cut in two is taken for unfinished, which does no harm. */
const endsRecord = (chunk: Uint8Array): boolean => {
  const last = chunk.length - 1;
  return chunk[last] === lineFeed && (chunk[last - 1] === lineFeed || chunk[last - 2] === lineFeed);
};

const lineFeed = 10;

/** Throws `upstream-cut` behind a stream that ends without one of the records that a regular end, or an error, has. */
const watchEnd =
  (terminators: readonly string[]): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    defer(() => {
      const needles = terminators.map((text) => Buffer.from(text));
      const overlap = Math.max(...needles.map((needle) => needle.length)) - 1;
      let tail: Uint8Array = Buffer.from('\n');
      let ended = false;
      return source.pipe(
        tap({
          next(chunk) {
            if (ended) return;
            const seam = Buffer.concat([tail, chunk.subarray(0, overlap)]);
            const whole = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
            ended = needles.some((needle) => whole.includes(needle) || seam.includes(needle));
            tail = chunk.length >= overlap ? chunk.slice(-overlap) : seam.subarray(-overlap);
          },
          complete() {
            if (!ended) throw new FaultError(cutOff);
          },
        }),
      );
    });

const relayWhole = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  pipe(
    collectBytes(),
    map((body): ReplyPart => {
      const fault = hiddenFault(answered, body);
      if (fault) throw new FaultError(hideCredentials(fault, answered));
      const headers = { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) };
      return { type: 'whole', status: answered.answer.status, headers, body };
    }),
  );

/** An error that came with a status of success, or a body that is no reply at all. Parses only what looks suspicious. */
const hiddenFault = ({ line, context, answer }: Answered, body: Uint8Array): Fault | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (looksWhole(bytes) && !bytes.includes('"error"')) return undefined;
  const value = parseJson(bytes.toString());
  if (!isJsonObject(value)) return notJson(bytes, answer.status);
  const error = line.upstream.decodeReply(value, context).find((event) => event.type === 'error');
  return error?.type === 'error' ? error.fault : undefined;
};

/** Begins and ends as a JSON object does. */
const looksWhole = (bytes: Buffer): boolean => bytes[0] === 0x7b && bytes[bytes.length - 1] === 0x7d;
