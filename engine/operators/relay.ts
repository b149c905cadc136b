import { catchError, concat, defer, EMPTY, map, type Observable, type OperatorFunction, of, pipe, tap } from 'rxjs';
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

/**
 * Throws `upstream-cut` behind a stream that ends without one of the records that a regular end, or an error, has. What follows
 * that record, a broken connection included, is nothing to the client any more; where it lacks its empty line, it gets it.
 */
const relayStream =
  ({ client, delivery }: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  (source) =>
    defer(() => {
      let seen = false;
      const tail = new StreamTail(tailBytes, mostTailBytes, (longTail) => {
        seen ||= endPlace(textOf(longTail), longTail, client.terminators) >= 0;
      });
      const ending = (): Ending => endingOf(tail, client.terminators, seen);
      const bytes = source.pipe(
        tap((chunk) => {
          tail.add(chunk);
          delivery.betweenRecords = endsRecord(chunk);
        }),
        map((data): ReplyPart => ({ type: 'data', data })),
        catchError((error: unknown) => {
          if (ending() === 'cut') throw error;
          return EMPTY;
        }),
      );
      return concat(
        bytes,
        defer((): Observable<ReplyPart> => {
          const how = ending();
          if (how === 'cut') throw new FaultError(cutOff);
          return how === 'whole' ? EMPTY : of({ type: 'data', data: '\n\n' });
        }),
      );
    });

/** `unfinished`: all there but for the empty line of the last record, without which clients drop it. */
type Ending = 'whole' | 'unfinished' | 'cut';

/** `seen`: the last record is too long for the tail and began as an end does. */
const endingOf = (tail: StreamTail, terminators: readonly string[], seen: boolean): Ending => {
  const text = textOf(tail);
  const at = endPlace(text, tail, terminators);
  if (at < 0 && !seen) return 'cut';
  if (at < 0) return text.endsWith('\n\n') ? 'whole' : /\}\n?$/.test(text) ? 'unfinished' : 'cut';
  if (text.includes('\n\n', at + 1)) return 'whole';
  const gap = text.lastIndexOf('\n\n', at);
  return isWholeRecord(text.slice(Math.max(gap, 0))) ? 'unfinished' : 'cut';
};

/** One character per byte, which places need, with lines that end in LF. */
const textOf = ({ bytes }: StreamTail): string => {
  const text = bytes.toString('latin1');
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
};

/** Where the last of the records that end a stream shows itself; -1 without one. */
const endPlace = (text: string, { cut }: StreamTail, terminators: readonly string[]): number => {
  const places = terminators.map((words) => text.lastIndexOf(words));
  // The stream's own beginning begins a line, too.
  const atStart = !cut && terminators.some((words) => words.startsWith('\n') && text.startsWith(words.slice(1)));
  return Math.max(atStart ? 0 : -1, ...places);
};

const isWholeRecord = (record: string): boolean => {
  const data = record
    .split('\n')
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []))
    .join('\n');
  return data.trim() === '[DONE]' || parseJson(data) !== undefined;
};

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
