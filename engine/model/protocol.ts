import type { FieldNames } from './client-spelling.ts';
import type { ModelEvent } from './event.ts';
import type { Fault } from './fault.ts';
import type { JsonObject } from './json.ts';
import type { Losses } from './loss.ts';
import type { Machine } from './machine.ts';
import type { Reply } from './reply.ts';
import type { ModelRequest, WireFormat } from './request.ts';
import type { ToolNames } from './tool-names.ts';

/** One record of a Server-Sent Events stream. */
export interface SseRecord {
  /** The `event:` field; empty when there is none. */
  readonly event: string;
  /** The `data:` lines, joined by line feeds. */
  readonly data: string;
}

/** What conversions of a reply may know beside the reply itself. */
export interface ReplyContext {
  /** Unique to the request, lower-case hexadecimal; ids that a wire format needs are made from it. */
  readonly id: string;
  /** When the request came, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The request as the client's protocol decoded it. */
  readonly request: ModelRequest;
  /** The client's body as parsed, for protocols whose replies echo parts of it. */
  readonly asked: JsonObject;
  /** The upstream's name of the model that was asked. */
  readonly model: string;
  readonly names: ToolNames;
  readonly losses: Losses;
  /** Tokens of the prompt: counted where a rule needed it, else a rough estimate. */
  readonly inputEstimate: number;
}

/** What encoding a request for an upstream may write into, beside the body. */
export interface RequestContext {
  readonly names: ToolNames;
  readonly losses: Losses;
  /** The reply will reach the client as it comes: ask for it in the form that the client asked for. */
  readonly relaysReply: boolean;
  /** What the client speaks: a field that it left out keeps the meaning that leaving it out has there. */
  readonly client?: WireFormat | undefined;
}

/** A wire language as clients speak it to the gateway. */
export interface ClientProtocol {
  readonly wire: WireFormat;
  /** The client's parsed body → request. Throws a `FaultError` that names the field at fault. */
  readonly decodeRequest: (body: JsonObject) => ModelRequest;
  /** The decoder mends something in this body, so that it mustn't be forwarded as it came. */
  readonly mends?: (body: JsonObject) => boolean;
  /** The path of a field that only an upstream of the same wire format can honour (state that it keeps, say). */
  readonly ownWireField?: (body: JsonObject) => string | undefined;
  /** Its own words for fields that losses name; absent: the gateway's. */
  readonly fieldNames?: FieldNames;
  /** Events → SSE text. An `error` event becomes the protocol's own error; nothing comes after it. */
  readonly encodeStream: Machine<ModelEvent, string>;
  /** A whole answer → reply body. */
  readonly encodeReply: (reply: Reply, context: ReplyContext) => JsonObject;
  readonly encodeFault: (fault: Fault, requestId: string) => WireFault;
  /**
   * The protocol's terminal error as SSE text, for a stream that was relayed as it came and broke off: begins with an empty
   * line, since the bytes before it may end anywhere.
   */
  readonly encodeBreak: (fault: Fault, requestId: string) => string;
  /** SSE text that keeps a silent connection open. */
  readonly keepAlive: string;
  /**
   * Texts of which a stream that has its regular end, or an error, holds one, and which none of its content can hold: a line's
   * beginning, told by the line feed before it, or JSON that would be escaped inside a string.
   */
  readonly terminators: readonly string[];
}

/** A fault as one protocol words it. */
export interface WireFault {
  readonly status: number;
  readonly body: JsonObject;
}

/** A wire language as the gateway speaks it to an upstream. */
export interface UpstreamProtocol {
  readonly wire: WireFormat;
  /**
   * Whether this request may go out as a client of the same wire format wrote it; absent: any may. Where not, it is written
   * anew as the vendor wants it. The answer may pass as it comes in either case.
   */
  readonly takesAsItCame?: (request: ModelRequest) => boolean;
  /** Request → body. Records what can't be carried. Throws a `FaultError` for what the client must not lose unnoticed. */
  readonly encodeRequest: (request: ModelRequest, context: RequestContext) => JsonObject;
  /** SSE records → events. */
  readonly decodeStream: Machine<SseRecord, ModelEvent>;
  /** A whole reply body → the same events in one batch. */
  readonly decodeReply: (body: JsonObject, context: ReplyContext) => ModelEvent[];
  /**
   * Whether the answer to this body, written in the same wire format, may hold reasoning that the vendor wants back: then an
   * answer that passes through untouched is read along. Absent: it never does.
   */
  readonly mayReason?: (body: JsonObject) => boolean;
  /** A text that a stream with reasoning shows before anything else of its answer. Absent: all streams are read. */
  readonly reasoningSign?: string;
  /** An answer with a failure status → fault. The body may be anything: JSON, HTML, nothing. */
  readonly decodeFault: (status: number, headers: Headers, body: string) => Fault;
}

/** Reply headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;
