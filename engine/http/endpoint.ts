import type { Observable } from 'rxjs';
import type { Fault } from '../model/fault.ts';
import type { Headers, WireFault } from '../model/protocol.ts';
import type { SocketProtocol } from '../model/wire/socket-protocol.ts';
import { sseText } from '../model/wire/sse.ts';
import type { SseRecord } from '../model/wire/sse-record.ts';
import type { Backpressure } from '../runtime/backpressure.ts';
import type { MemoryReservation } from '../runtime/memory-budget.ts';

/** Formats a fault as the response of a path. */
export type FormatFault = (fault: Fault, requestId: string) => WireFault;

/** The handler of a path. */
export interface Endpoint {
  /** Requires no API key. */
  readonly open: boolean;
  /** Clients with keys of their own may call it. Absent: the administrator alone. */
  readonly forClients?: boolean;
  /** Answers requests for any host: it reveals nothing. Absent: false. */
  readonly anyHost?: boolean;
  /** Its handler reserves the memory for the values that it parses (`reservation`). Absent: it is reserved before. */
  readonly reservesValues?: boolean;
  readonly formatFault: FormatFault;
  /** The protocol of requests over a WebSocket connection, which a handshake at the same path opens. Absent: HTTP alone. */
  readonly socket?: SocketProtocol | undefined;
  /** Rejects with the fault that every request of such a connection would get: it isn't opened. Absent: there is none. */
  readonly admitSocket?: (params: Params, namedClient: string | undefined) => Promise<void>;
  /**
   * Answers a request. `params` are the decoded variable segments of the path. Subscribed once; unsubscribed when the client
   * disconnects. `formatFault` formats an error before the first data; a later error closes the connection.
   */
  readonly handle: (request: HttpRequest, params: Params) => Observable<ReplyPart>;
}

/** Decoded variable segments of a path by name; the rest of the path under `*`. */
export type Params = Readonly<Record<string, string>>;

/** A complete request: the body has arrived and is decompressed. */
export interface HttpRequest {
  /** From the client's `x-request-id`, or generated; sent with the answer. */
  readonly id: string;
  /** As sent: `GET`, `POST` … */
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** A header by lower-case name; values of repeated headers are joined with `, `. */
  readonly header: (name: string) => string | undefined;
  /** All of them by name, built on first use. */
  readonly headers: Headers;
  /** The client's IPv4 or IPv6 address as text; mapped IPv4 in dotted form. */
  readonly remoteAddress: string;
  /** Decompressed; empty when there is none, and once it is no longer held as bytes. */
  readonly body: Uint8Array;
  /** `takeValues` takes the memory for the body's values, which have so many arrays and objects; the fault if there is none. */
  readonly reservation: { readonly takeValues: (nodes: number) => Fault | undefined };
  /** Reports what the body is still held for, which the memory budget counts; before the first call, `conversion`. */
  readonly retainBody: (use: BodyUse) => void;
  /** Counts what is collected of the answer, until the client has it. */
  readonly answerMemory: MemoryReservation;
  /** Pauses the upstream while this client is slow. */
  readonly backpressure: Backpressure;
  /**
   * Calls `handler` when the listener stops waiting for the answer, which should end at once with this fault. Without a handler,
   * it fails with the fault.
   */
  readonly onInterrupted: (handler: (fault: Fault) => void) => void;
  /** The client whose key it carries; `undefined`: the administrator's, or none. */
  readonly namedClient: string | undefined;
  /** When the request head arrived, in milliseconds since 1970. */
  readonly startedAtMs: number;
}

/**
 * What is held of a body. `conversion`: its bytes, text, values and the upstream's request. `values`: what was parsed from it,
 * which the answer's conversion may read. `none`: nothing.
 */
export type BodyUse = 'conversion' | 'values' | 'none';

/** Names and values in turn, in order, with repeated ones; those of requests in lower case. */
export type HeaderList = readonly string[];

/** Why a request is rejected. */
export interface Rejection {
  readonly fault: Fault;
  /** Closes the connection after the answer: further data on it is unreadable or unwanted. */
  readonly close: boolean;
}

/** A part of an answer: either one whole answer, or a head followed by data until the stream completes. */
export type ReplyPart = WholeReply | ReplyHead | ReplyData;

export interface WholeReply {
  readonly type: 'whole';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** The head of a streamed answer. Sent with the first data; until then a whole answer may replace it. */
export interface ReplyHead {
  readonly type: 'head';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A part of a stream's content. */
type ReplyData =
  | {
      readonly type: 'data';
      /** As it is sent over HTTP; text is a comment or the like, which has no meaning elsewhere. */
      readonly data: string | Uint8Array;
      readonly records?: undefined;
    }
  | {
      readonly type: 'data';
      /** The data of one frame. */
      readonly records: readonly SseRecord[];
      /** The data before end in the middle of a record. */
      readonly afterPart?: boolean;
    };

/** A part of a stream, as sent over HTTP. */
export const dataOf = (part: ReplyData): string | Uint8Array => {
  if (!part.records) return part.data;
  return part.afterPart ? `\n\n${sseText(part.records)}` : sseText(part.records);
};

/** The length of that, nearly. */
export const dataLength = (part: ReplyData): number => {
  if (!part.records) return part.data.length;
  let length = 0;
  for (const { data } of part.records) length += data.length;
  return length;
};
