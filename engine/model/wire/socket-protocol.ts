import type { Fault } from '../fault.ts';
import type { JsonObject } from '../json/json.ts';
import type { SseRecord } from './sse-record.ts';

/** Requests of a protocol's clients over a WebSocket connection. Values in, values out. */
export interface SocketProtocol {
  readonly limits: SocketLimits;
  /** Reads a client's text message. */
  read(message: Uint8Array): SocketMessage;
  /** Faults of a message or of a connection's state, in the protocol's own codes. */
  readonly faults: SocketFaults;
  /** The error event for a request that gets no answer, or for a message that is none. `stream`: empty for the default stream. */
  readonly encodeError: (error: SocketError, stream: string) => string;
  /** The answer to a request that only prepares the next ones. Throws as the protocol's decoder does. */
  answerWarmUp(body: Uint8Array, id: string, startedAtMs: number): readonly SseRecord[];
  /** A record's data as the event of this stream. */
  inStream<D extends string | Uint8Array>(data: D, stream: string): string | D | Uint8Array;
  /** An event without a meaning, for a silence before the answer's first one. */
  readonly keepAlive: string;
  /** Reads from one answer's records what a later request may continue. */
  readonly readAnswer: (reserve: (bytes: number) => boolean) => SocketAnswerReader;
}

/** Limits of one connection at a time. */
interface SocketLimits {
  /** Streams with a name. */
  readonly streams: number;
  /** Answers being given; further requests wait. */
  readonly answers: number;
  /** Requests that wait. */
  readonly waiting: number;
  /** The longest lifetime of a connection, in milliseconds; each has up to a tenth less. */
  readonly lifetimeMs: number;
}

/** A client's message. `none`: it needs no reply. */
export type SocketMessage =
  | RequestMessage
  | { readonly type: 'none' }
  | { readonly type: 'refused'; readonly fault: Fault; readonly stream: string };

/** A request for an answer. */
export interface RequestMessage {
  readonly type: 'ask';
  /** Requests of one stream are answered in order, those of several at the same time. Empty: the default stream, which has no name. */
  readonly stream: string;
  /** It only prepares the next requests: there is nothing to ask a model. */
  readonly isWarmUp: boolean;
  /** The id of the answer that it continues. */
  readonly continues: string | undefined;
  /** The vendor may have stored that answer. */
  readonly mayBeStored: boolean;
  /** The vendor keeps the conversation under an id of its own, so that the items here are not all of it. */
  readonly isStored: boolean;
  /** Per-request headers from the message: the connection's are those of all its requests. */
  readonly headers: Readonly<Record<string, string>>;
  /** The items that it adds to the conversation, without brackets. */
  items(): Uint8Array;
  /** The body of the same request over HTTP. `before`: the conversation that it continues; absent: it names it itself. */
  body(before?: readonly Uint8Array[]): Uint8Array;
}

/** The faults of connections. */
export interface SocketFaults {
  readonly binary: Fault;
  /** The connection takes no more requests: its lifetime is over, or what it has to remember is lost. */
  readonly connectionOver: Fault;
  readonly tooManyStreams: Fault;
  readonly tooManyWaiting: Fault;
  readonly unknownAnswer: (id: string) => Fault;
}

/** An error outside of an answer. */
interface SocketError {
  readonly status: number;
  /** The body that it has over HTTP. */
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the records of one answer. */
export interface SocketAnswerReader {
  /** Called for each record. `event`: its `event:` line; empty without one. */
  read(event: string, data: string | Uint8Array): void;
  /** The answer, once its terminal record was read; `undefined` if it failed or broke off. */
  readonly result: () => { readonly id: string; readonly items: Uint8Array | undefined } | undefined;
}
