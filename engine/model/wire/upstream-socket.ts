import type { JsonObject } from '../json/json.ts';
import type { FramedRecord } from './sse-record.ts';

/** Streamed requests of a wire format to a vendor over a WebSocket connection. Values in, values out. */
export interface UpstreamSocket {
  /** Reads the body of a request over HTTP, which must be valid JSON; `undefined` if it can't go over a WebSocket. */
  readonly read: (body: string) => UpstreamRequest | undefined;
}

/** A request for a response. */
export interface UpstreamRequest {
  /** The first item of the conversation, by which one without an id is known. */
  readonly opening: string;
  /** The message with the whole request. */
  message(): string;
  /** The message with only what follows an answer; `undefined` unless the request continues exactly that one. */
  messageAfter(chain: SocketChain): string | undefined;
  /** Reads the messages that answer it. `isContinued`: `messageAfter` was sent. */
  answerReader(isContinued: boolean): UpstreamAnswerReader;
}

/** A connection's memory of its latest response, so that the next request may send only the new items. */
export interface SocketChain {
  /** JSON text. */
  readonly model: string;
  /** The number of items of the whole input, and the digest of their bytes. */
  readonly count: number;
  readonly digest: string;
  readonly responseId: string;
  /** The response's items, in order. */
  readonly output: readonly JsonObject[];
}

/** Reads the messages that answer one request. Holds none of the request once the response has begun. */
export interface UpstreamAnswerReader {
  readonly read: (message: Uint8Array) => SocketReading;
}

/**
 * What a message is. `notice`: comes before the response. `event`: the response has begun. `end`: its last event; the connection may be used
 * again, and remembers `chain`. `broken`: its last event; the connection can't be used again. `refusal`: there is no response but the answer that HTTP
 * would bring. `again`: the whole request has to be made anew, since only its short form or the connection is refused. `garbled`: no event.
 */
export type SocketReading =
  | ({ readonly type: 'notice' | 'event' | 'broken' } & FramedRecord)
  | ({ readonly type: 'end'; readonly chain: SocketChain | undefined } & FramedRecord)
  | {
      readonly type: 'refusal';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly type: 'again' | 'garbled' };
