import type { SummaryForm } from './compaction.ts';
import type { ReplyContext, RequestContext } from './context.ts';
import type { FinishReason, ModelEvent, Usage } from './event.ts';
import type { Fault, FaultKind } from './fault.ts';
import type { Grammar } from './grammar.ts';
import type { JsonObject } from './json/json.ts';
import type { Losses } from './loss.ts';
import type { Machine } from './machine.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Reply } from './reply.ts';
import type { ModelRequest, WireFormat } from './request.ts';
import type { FieldNames } from './wire/client-paths.ts';
import type { ClientWire } from './wire/client-wires.ts';
import type { SocketProtocol } from './wire/socket-protocol.ts';
import type { SseRecord } from './wire/sse-record.ts';
import type { UpstreamSocket } from './wire/upstream-socket.ts';

/** Settings for decoding requests. */
export interface DecodeSettings {
  /** Whether the chat route rejects JSON Schemas for answers and the older form of tools. */
  readonly chatStrict: boolean;
}

/** The client side of a wire format. */
export interface ClientProtocol {
  readonly wire: ClientWire;
  /** Decodes a client's parsed body. Throws a `FaultError` that names the field at fault. */
  readonly decodeRequest: (body: JsonObject, settings?: DecodeSettings) => ModelRequest;
  /**
   * Names of members whose strings `decodeRequest` copies into texts of the request unread, so that an outline of the body may
   * leave them out. Absent: the body is always decoded in full.
   */
  readonly texts?: ReadonlySet<string>;
  /** Whether the decoder repairs this body, so that it can't be relayed. */
  readonly needsRepair?: (body: JsonObject) => boolean;
  /** Whether the client wants the answer in a form that is never requested upstream, so that it can't be relayed. */
  readonly rewritesReply?: (body: JsonObject) => boolean;
  /** Its usual path. */
  readonly path: string;
  /** The smallest request: a question to a model. */
  readonly question: (model: string, text: string) => JsonObject;
  /** The list of a body that grows from turn to turn. */
  readonly turns: string;
  /** A field that only an upstream of the same wire format can support, such as server-side state. */
  readonly ownWireField?: (body: JsonObject) => OwnWireField | undefined;
  /**
   * Expresses what only this wire format has in terms that others have too, for an upstream of another format: the same request
   * if there is nothing of the kind. Records losses. Throws an `unsupported` fault for what no other format can express and the
   * answer depends on. `keepsHosted`: calls and results of a vendor's own tools stay as they are, for stages that read them. Absent: the
   * decoder leaves nothing to express.
   */
  readonly forOtherWires?: (request: ModelRequest, losses: Losses, keepsHosted?: boolean) => ModelRequest;
  /** The form of a summary by a model without compaction; absent: clients can't ask for one. */
  readonly summary?: SummaryForm;
  /** Lower-case headers by which agents classify their requests; absent: none. */
  readonly agentHeaders?: Readonly<Record<'requestClass' | 'agentType' | 'compaction', string>>;
  /** Headers in which agents name the conversation, lower-case, the surest first; absent: there are none. */
  readonly sessionHeaders?: readonly string[];
  /** The conversation as the client names it in the request's body, if it does. Absent: it has no place for that. */
  readonly sessionIn?: (request: ModelRequest) => string | undefined;
  /** Clients send back all reasoning of their own format, or none. Absent: many lose some of it. */
  readonly returnsReasoning?: true;
  /** How to leave out what a client's instructions hold for its own vendor alone, such as a note for accounting. Absent: nothing. */
  readonly attribution?: {
    /** An instruction's text without it; the same text if it has none. */
    readonly textWithout: (text: string) => string;
    /** The fields of a request that aren't modelled and differ without it; `undefined`: none. Recorded as losses. */
    readonly fieldsWithout: (fields: JsonObject) => JsonObject | undefined;
    /** The members of a body that differ without it; `undefined`: none. */
    readonly membersWithout: (body: JsonObject) => JsonObject | undefined;
  };
  /** Its names of fields in losses; absent: the gateway's names. */
  readonly fieldNames?: FieldNames;
  /** Encodes events as records, whose data are one line each. An `error` event becomes the protocol's error and is the last output. */
  readonly encodeStream: Machine<ModelEvent, SseRecord>;
  /** Encodes a whole answer as a reply body. */
  readonly encodeReply: (reply: Reply, context: ReplyContext) => JsonObject;
  readonly encodeFault: (fault: Fault, requestId: string) => WireFault;
  /** The headers that show a client its limits. */
  readonly limitHeaders: (rates: readonly RateLimit[]) => Headers;
  /**
   * The protocol's terminal error, for a relayed stream that broke off. `relayed`: the records that have reached the client, if
   * any.
   */
  readonly encodeBreak: (fault: Fault, requestId: string, relayed?: RelayedRecords) => readonly SseRecord[];
  /** The rules of what its clients must get. */
  readonly grammar: Grammar;
  /** SSE text that keeps a silent connection open. */
  readonly keepAlive: string;
  /**
   * The event that reports progress of a relayed answer during a long silence; `undefined` if it can't be created.
   * Absent: the protocol has none.
   */
  readonly encodeProgress?: (relayed: RelayedRecords) => SseRecord | undefined;
  /** What each record with a number holds, in streams whose records are numbered. Absent: they aren't. */
  readonly numberMarker?: string;
  /** The end of a stream of this protocol. */
  readonly ends: StreamEnds;
  /**
   * Recognizes a record that holds only the usage, which a relayed stream has because the gateway asks for it. Absent: usage has no
   * record of its own.
   */
  readonly isUsageRecord?: (record: SseRecord) => boolean;
  /** Fault kinds that streaming clients get as a stream with status 200, even before the answer has started. */
  readonly inStreamFaults?: ReadonlySet<FaultKind>;
  /** The form of requests over a WebSocket connection. Absent: the protocol has none. */
  readonly socket?: SocketProtocol | undefined;
}

/** The client side of the protocol for requests to a path: a path that asks for a summary has its own bodies, which come over HTTP alone. */
export const clientAt = (client: ClientProtocol, path: string): ClientProtocol => {
  const own = client.summary?.path;
  return own && path.endsWith(own.end) ? { ...client, decodeRequest: own.decodeRequest, socket: undefined } : client;
};

/** A field that only upstreams of the client's wire format can support. */
export interface OwnWireField {
  readonly path: string;
  /** The reason, if the path doesn't say it; continues a sentence. */
  readonly why?: string | undefined;
}

/** The parts of a relayed stream that have reached the client, as text of whole records. */
export interface RelayedRecords {
  /** The first record, possibly followed by more. */
  readonly first: string;
  /** The last record, possibly preceded by more. */
  readonly last: string;
  /** The last record with a number, possibly between others; empty if none has any. */
  readonly numbered: string;
}

/** Recognizes the end of a stream. */
export interface StreamEnds {
  /** Matches in every record that `read` recognizes or that has usage, so that the others needn't be decoded. */
  readonly marker: RegExp;
  /** The end that a record signals, if any. The data of a very long record may be truncated. */
  readonly read: (record: SseRecord) => StreamEnd | undefined;
  /**
   * Whether a record that `read` calls a finish reports a failure, so that the protocol's terminal error must follow; whether one that it
   * calls an end is such an error.
   */
  readonly isFailure: (record: SseRecord) => boolean;
  /**
   * The record with the finish of an answer that ends without one; `first`: the answer's first record. Absent: the terminal
   * record has it.
   */
  readonly encodeFinish?: (finish: FinishReason, first: SseRecord | undefined) => SseRecord;
  /** Recognizes the records with a part of a call, for answers that end without a finish. Absent: none does. */
  readonly calls?: {
    readonly marker: RegExp;
    /** Matches where one of the two markers does. Most records match neither: this one finds that out in one pass. */
    readonly eitherMarker: RegExp;
  };
  /** The terminal record, for finished answers whose upstream omits it. Absent: none is needed. */
  readonly terminal?: SseRecord;
}

/**
 * `end`: the terminal record; anything after it is ignored. `finish`: all content has arrived, but more may follow, such as
 * usage; a stream that closes or goes silent after it is complete. `fault`: an error in a form that the protocol's clients don't
 * know; its own terminal error stands in for it.
 */
export type StreamEnd = 'end' | 'finish' | 'fault';

/** A fault in the error format of one protocol. */
export interface WireFault {
  readonly status: number;
  readonly body: JsonObject;
}

/** The upstream side of a wire format. */
export interface UpstreamProtocol {
  readonly wire: WireFormat;
  /**
   * Whether a request of the same wire format, decoded from this body, may be relayed; absent: always. Otherwise it is encoded
   * again for the vendor. The answer may be relayed in either case.
   */
  readonly acceptsRelay?: (request: ModelRequest, body: JsonObject) => boolean;
  /** The parts of a body in a vendor's cache, in order: members, then the items of the list that grows from turn to turn. */
  readonly prompt: { readonly front: readonly string[]; readonly list: string };
  /** The client's own vendor serves these models, and gets what is for it alone. */
  readonly readsAttribution?: boolean;
  /** Whether a model reads images: requests with some are refused otherwise. Absent: each does, as far as is known. */
  readonly readsImages?: (model: string) => boolean;
  /** The members that ask for a stream's usage, for a relayed request whose client doesn't. Absent, or none: not needed, or refused. */
  readonly usageMembers?: (request: ModelRequest) => JsonObject | undefined;
  /** Encodes a request. Records losses. Throws a `FaultError` for what must not be lost silently. */
  readonly encodeRequest: (request: ModelRequest, context: RequestContext) => JsonObject;
  /** Servers may report how likely an answer to a decision is. */
  readonly reportsProbabilities?: true;
  /** The vendor summarizes a conversation on demand, in its own form; absent: a model is asked for a summary. */
  readonly compacts?: true;
  /** Streams have no terminal record: a finished answer is complete, however its connection ends. */
  readonly endsByClosing?: true;
  /** Decodes SSE records into events. */
  readonly decodeStream: Machine<SseRecord, ModelEvent>;
  /** The rules of what its servers send, without those that these are known to break. */
  readonly grammar: Grammar;
  /** A text that occurs in the first record of an answer, and in no record that only holds an error. */
  readonly contentMarker: string;
  /** Decodes a whole reply body into the same events, in one batch. */
  readonly decodeReply: (body: JsonObject, context: ReplyContext) => ModelEvent[];
  /**
   * Whether the answer to this body (of the same wire format) may hold reasoning that the vendor requires back. A
   * relayed answer is inspected then. Absent: never.
   */
  readonly mayReason?: (body: JsonObject) => boolean;
  /**
   * The usage in a record of a stream, in a whole reply, or in a reply's end as `plainReply` describes it; `undefined` if there is
   * none. Absent: answers are never relayed.
   */
  readonly usageIn?: (body: JsonObject) => Usage | undefined;
  /** Recognizes nearly all whole replies, which saves relayed ones their decoding. Absent: all are decoded. */
  readonly plainReply?: PlainReply | PlainReader;
  /** A text that occurs in a stream with reasoning before any other content. Absent: all streams are inspected. */
  readonly reasoningMarker?: string;
  /** Whether a fault says that the vendor refuses the reasoning in the history. Absent: it never does. */
  readonly refusesReasoning?: (fault: Fault) => boolean;
  /** The form of streamed requests over a WebSocket connection. Absent: the vendors have none. */
  readonly socket?: UpstreamSocket;
  /** Decodes an answer with a failure status. The body may be JSON, HTML or empty. */
  readonly decodeFault: (status: number, headers: Headers, body: string) => Fault;
}

/** Whole replies of the usual form: their usage is their member `usage`, behind the content. */
export interface PlainReply {
  /** Matches the name of any member that `usageIn` reads, with its quotes; in the usual reply, nothing before these. */
  readonly end: RegExp;
  /** Matches shortly before them in a complete answer. */
  readonly finish: RegExp;
  /** Matches in every reply that reports a failure. */
  readonly failure: RegExp;
  /** Matches in every reply that holds reasoning, or a call that may. */
  readonly reasoning: RegExp;
}

/** Reads what `usageIn` needs of a whole reply of the usual form; `undefined` for any other, and, if it `mayReason`, for one with reasoning. */
export type PlainReader = (bytes: Uint8Array, mayReason: boolean) => JsonObject | undefined;

/** Headers of a request or reply, by lower-case name. */
export type Headers = Readonly<Record<string, string>>;
