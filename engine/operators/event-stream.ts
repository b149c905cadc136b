import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fail } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { FramedRecord, FramedRecords } from '../model/wire/sse-record.ts';
import type { MemoryReservation } from '../runtime/memory-budget.ts';
import { AnswerReservation } from './bound-answer.ts';
import type { StreamStage } from './rx/stages.ts';

/** The content type of a stream in the cloud's own framing. */
const contentType = 'application/vnd.amazon.eventstream';

/** Whether an answer is framed so, by its content type. */
export const isEventStream = (type: string): boolean => type.toLowerCase().startsWith(contentType);

/** Bytes before the headers of a message, and after its payload. */
const preludeBytes = 12;
const checksumBytes = 4;

/** Larger messages aren't read. Source: the framing's own limit for payloads, 24 MiB. */
const maxMessageBytes = 24 * 1024 * 1024;

/**
 * Takes a stream out of the cloud's framing: the records of the vendor's own stream. A failure of the cloud becomes the
 * record of an error. Sources: AWS documentation, "Event stream encoding"; Amazon Bedrock API reference,
 * "InvokeModelWithResponseStream".
 */
export const readEventStream: StreamStage<{ readonly answerMemory: MemoryReservation }, Uint8Array, FramedRecords> = ({
  answerMemory,
}) => {
  const reservation = new AnswerReservation(answerMemory);
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  /** The bytes that the first message needs, as far as they are known. */
  let needed = preludeBytes;
  return {
    next(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      reservation.reserve(bytes);
      if (bytes < needed) return undefined;
      let rest = Buffer.concat(chunks);
      const records: FramedRecord[] = [];
      needed = lengthOf(rest);
      while (rest.length >= needed && rest.length >= preludeBytes) {
        records.push(...recordOf(rest.subarray(0, needed)));
        rest = rest.subarray(needed);
        needed = lengthOf(rest);
      }
      chunks = rest.length > 0 ? [rest] : [];
      bytes = rest.length;
      reservation.set(bytes);
      return records.length > 0 ? { records } : undefined;
    },
    end() {
      if (bytes > 0) fail('upstream-cut', 'The connection to the upstream ended in the middle of a message.');
      return undefined;
    },
  };
};

/** The length of the message at the start; of its prelude if that isn't complete. */
const lengthOf = (bytes: Buffer): number => {
  if (bytes.length < preludeBytes) return preludeBytes;
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) garbled('a checksum is wrong');
  const length = bytes.readUInt32BE(0);
  if (length > maxMessageBytes) garbled(`a message has ${length} bytes`);
  if (length < preludeBytes + checksumBytes + bytes.readUInt32BE(4)) garbled('a message is shorter than its headers');
  return length;
};

const garbled = (what: string): never =>
  fail('upstream-garbled', `The upstream's event stream can't be read: ${what}.`);

/** The records that a whole message stands for: one, or none. */
const recordOf = (message: Buffer): readonly FramedRecord[] => {
  const end = message.length - checksumBytes;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) garbled('a checksum is wrong');
  const payloadAt = preludeBytes + message.readUInt32BE(4);
  const headers = headersIn(message.subarray(preludeBytes, payloadAt));
  const payload = parseJson(message.toString('utf8', payloadAt, end));
  const content = isJsonObject(payload) ? payload : {};
  if (headers.get(':message-type') === 'event')
    return typeof content.bytes === 'string' ? vendorRecord(content.bytes) : [];
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  const said = content.message ?? content.Message ?? headers.get(':error-message');
  const text = typeof said === 'string' && said !== '' ? said : `The cloud ended the stream: ${type}.`;
  const error = { type: errorTypes[type.toLowerCase()] ?? 'api_error', message: text };
  return [{ event: 'error', data: Buffer.from(JSON.stringify({ type: 'error', error })) }];
};

/** The vendor's types of errors, by the cloud's exceptions. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingexception: 'rate_limit_error',
  serviceunavailableexception: 'overloaded_error',
  modeltimeoutexception: 'timeout_error',
  validationexception: 'invalid_request_error',
};

/** The vendor's record. Events of the cloud's own, such as those that only keep the connection, have no type. */
const vendorRecord = (encoded: string): readonly FramedRecord[] => {
  const text = Buffer.from(encoded, 'base64').toString();
  const data = parseJson(text);
  if (!isJsonObject(data)) return garbled('an event is no JSON object');
  // Line breaks stand between values alone.
  return typeof data.type === 'string'
    ? [{ event: data.type, data: Buffer.from(text.replaceAll(/[\r\n]/g, ' ')) }]
    : [];
};

/** Bytes of a header's value by its type; those with a length of their own have none. */
const valueBytes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const textType = 7;

/** The headers that are texts, by name. */
const headersIn = (bytes: Buffer): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) garbled('a header is longer than the headers');
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString();
    const type = take(1).readUInt8();
    const value = take(valueBytes[type] ?? take(2).readUInt16BE());
    if (type === textType) found.set(name, value.toString());
  }
  return found;
};
