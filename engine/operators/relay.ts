import { defer, map, type OperatorFunction, tap } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { cutOff } from '../model/reply.ts';
import type { ReplyPart } from '../reply-part.ts';
import { collectBytes } from './collect-bytes.ts';
import { jsonHeaders, limitHeaders, routeHeaders } from './headers.ts';
import { hideCredentials } from './hide-credentials.ts';
import { notJson } from './read-events.ts';
import { endsRecord, StreamTail } from './stream-tail.ts';

/** Whether the answer may reach the client as it comes: the same format, in the form asked for, under the client's own names. */
export const mayRelay = ({ relays, answer, delivery, context }: Answered): boolean =>
  relays.reply && answer.streamed === delivery.streaming && !context.names.changed;

/** The upstream's bytes, untouched. */
export const relay = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  answered.answer.streamed ? relayStream(answered) : relayWhole(answered);

/** How much of a stream is searched for its regular end: its last record, and some of what may still follow that. */
const tailBytes = 16 * 1024;
const mostTailBytes = 1024 * 1024;

/** Throws `upstream-cut` behind a stream that ends without one of the records that a regular end, or an error, has. */
const relayStream =
  ({ client, delivery }: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  (source) =>
    defer(() => {
      let ended = false;
      const look = (tail: StreamTail): void => {
        ended ||= holdsEnd(tail, client.terminators);
      };
      const tail = new StreamTail(tailBytes, mostTailBytes, look);
      return source.pipe(
        tap({
          next(chunk) {
            tail.add(chunk);
            delivery.betweenRecords = endsRecord(chunk);
          },
          complete() {
            look(tail);
            if (!ended) throw new FaultError(cutOff);
          },
        }),
        map((data): ReplyPart => ({ type: 'data', data })),
      );
    });

const holdsEnd = (tail: StreamTail, terminators: readonly string[]): boolean => {
  const { bytes } = tail;
  // The stream's own beginning begins a line, too.
  return terminators.some((text) => bytes.lastIndexOf(text) >= 0 || (!tail.cut && startsLine(bytes, text)));
};

const startsLine = (bytes: Buffer, text: string): boolean =>
  text.startsWith('\n') && bytes.subarray(0, text.length - 1).equals(Buffer.from(text.slice(1)));

const relayWhole = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  collectBytes((body): ReplyPart => {
    const fault = hiddenFault(answered, body);
    if (fault) throw new FaultError(hideCredentials(fault, answered));
    const headers = { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) };
    return { type: 'whole', status: answered.answer.status, headers, body };
  });

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
