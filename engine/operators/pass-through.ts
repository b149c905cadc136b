import { Buffer } from 'node:buffer';
import type { OperatorFunction } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { hideCredentials } from './hide-credentials.ts';
import { notJson } from './read-events.ts';
import { jsonHeaders, limitHeaders, routeHeaders } from './reply-headers.ts';
import { collectBytes } from './rx/collect-bytes.ts';
import { operate } from './rx/operate.ts';

/** Whether the answer can pass through: same format, streamed or whole as the client asked, tool names unchanged. */
export const canPassThrough = ({ passThrough, answer, progress, context }: Answered): boolean =>
  passThrough.reply && answer.streamed === progress.streaming && !context.names.changed;

/** Passes the upstream's bytes to the client unchanged. */
export const passThrough = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  answered.answer.streamed ? passStream(answered) : passWhole(answered);

/** Keeps the first and the last records, which the gateway's own error or progress event continues from. */
const passStream = ({ progress }: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  operate(() => {
    // Set by an earlier attempt.
    progress.progress = undefined;
    return {
      next(chunk) {
        if (hasData(chunk)) progress.relayed = { first: progress.relayed?.first ?? chunk, last: chunk };
        return { type: 'data', data: chunk };
      },
    };
  });

/** Holds more than comments. */
const hasData = (chunk: Uint8Array): boolean =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes('data:');

const passWhole = (answered: Answered): OperatorFunction<Uint8Array, ReplyPart> =>
  collectBytes((body): ReplyPart => {
    const fault = hiddenFault(answered, body);
    if (fault) throw new FaultError(hideCredentials(fault, answered.call.headers));
    const headers = { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) };
    return { type: 'whole', status: answered.answer.status, headers, body };
  });

/** The fault in an answer with a success status: an error object, or a body that isn't a reply. Parses only suspicious bodies. */
const hiddenFault = ({ plan, context, answer }: Answered, body: Uint8Array): Fault | undefined => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (looksWhole(bytes) && !bytes.includes('"error"')) return undefined;
  const value = parseJson(bytes.toString());
  if (!isJsonObject(value)) return notJson(bytes, answer.status);
  const error = plan.upstream.decodeReply(value, context).find((event) => event.type === 'error');
  return error?.type === 'error' ? error.fault : undefined;
};

/** Begins and ends with braces. */
const looksWhole = (bytes: Buffer): boolean => bytes[0] === 0x7b && bytes[bytes.length - 1] === 0x7d;
