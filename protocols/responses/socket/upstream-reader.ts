import {
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  quote,
  writeJson,
} from '../../../engine/model/json/json.ts';
import type { Headers } from '../../../engine/model/protocol.ts';
import { bufferOf } from '../../../engine/model/wire/sse.ts';
import type { FramedRecord } from '../../../engine/model/wire/sse-record.ts';
import type { SocketReading, UpstreamAnswerReader } from '../../../engine/model/wire/upstream-socket.ts';
import { ResponseItems, type SentInput, sentInputOf } from './chain.ts';
import { connectionOverCode } from './codes.ts';
import type { CreateBody } from './create-body.ts';

/** Bytes of notices that may come before a response begins. */
const maxNoticeBytes = 1 << 16;

/** Reads the messages that answer one `response.create`. */
export class UpstreamReader implements UpstreamAnswerReader {
  /** `undefined` once the response has begun. */
  #body: CreateBody | undefined;
  readonly #isContinued: boolean;
  readonly #items = new ResponseItems();
  #sent: SentInput | undefined;
  #noticeBytes = 0;

  constructor(body: CreateBody, isContinued: boolean) {
    this.#body = body;
    this.#isContinued = isContinued;
  }

  read(bytes: Uint8Array): SocketReading {
    const message = bufferOf(bytes);
    const event = typeOf(message);
    if (event === undefined) return { type: 'garbled' };
    const read = { event, data: inOneLine(message) };
    if (this.#body) {
      if (event === 'error') return this.#refusal(message, read);
      this.#noticeBytes += message.length;
      // Some vendors send notices first; the answer begins with the response.
      if (!event.startsWith('response.') && this.#noticeBytes < maxNoticeBytes) return { type: 'notice', ...read };
      this.#sent = sentInputOf(this.#body);
      this.#body = undefined;
    }
    switch (event) {
      case 'response.output_item.done':
        this.#items.add(message);
        return { type: 'event', ...read };
      case 'response.completed':
        return { type: 'end', chain: this.#items.chain(message, this.#sent), ...read };
      case 'response.failed':
      case 'response.incomplete':
        return { type: 'end', chain: undefined, ...read };
      case 'error':
        return { type: 'broken', ...read };
      default:
        return { type: 'event', ...read };
    }
  }

  /** The vendor answers with an error in place of a response. */
  #refusal(message: Buffer, read: FramedRecord): SocketReading {
    const parsed = parseJson(message.toString());
    const error = isJsonObject(parsed) ? parsed : {};
    const status = statusOf(error);
    if (this.#isContinued ? mayBeChain(status) : isConnections(error)) return { type: 'again' };
    // Without a status, it is the event that HTTP's stream would have.
    if (status === undefined) return { type: 'broken', ...read };
    return {
      type: 'refusal',
      status,
      headers: headersIn(error.headers),
      body: writeJson({ error: error.error ?? null }),
    };
  }
}

const usualStart = Buffer.from('{"type":"');

/** The type of a message; `undefined` if it isn't a JSON object with one. Vendors write it first, so that the message needn't be parsed. */
const typeOf = (message: Buffer): string | undefined => {
  const from = usualStart.length;
  const to = message.indexOf(quote, from);
  if (to > from && message.subarray(0, from).equals(usualStart)) {
    const type = message.toString('latin1', from, to);
    if (!type.includes('\\')) return type;
  }
  const event = parseJson(message.toString());
  const type = isJsonObject(event) ? event.type : undefined;
  // A line break would end the line of a record.
  return typeof type === 'string' && !type.includes('\n') && !type.includes('\r') ? type : undefined;
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** Line breaks in JSON stand between its tokens, where a space means the same. */
const inOneLine = (message: Buffer): Buffer => {
  if (!message.includes(lineFeed) && !message.includes(carriageReturn)) return message;
  const line = Buffer.from(message);
  line.forEach((byte, at) => {
    if (byte === lineFeed || byte === carriageReturn) line[at] = space;
  });
  return line;
};

/** Statuses of a shortened request that the whole one would have too. */
const ofAnyRequest: ReadonlySet<number> = new Set([401, 402, 403, 408, 429]);

/** Whether a shortened request may have failed because it was shortened. */
const mayBeChain = (status: number | undefined): boolean =>
  status === undefined || (status < 500 && !ofAnyRequest.has(status));

/** Whether the error is the connection's own: it has lived too long. */
const isConnections = ({ error }: JsonObject): boolean => isJsonObject(error) && error.code === connectionOverCode;

/** Some clients know `status_code` too. */
const statusOf = ({ status, status_code: older }: JsonObject): number | undefined => {
  const value = status ?? older;
  return typeof value === 'number' && value >= 400 && value <= 599 ? value : undefined;
};

const headersIn = (value: Json | undefined): Headers => {
  const headers: Record<string, string> = {};
  if (!isJsonObject(value)) return headers;
  for (const [name, text] of Object.entries(value)) {
    if (typeof text === 'string' || typeof text === 'number') headers[name.toLowerCase()] = String(text);
  }
  return headers;
};
