import type { JsonObject } from './json/json.ts';
import type { LongTexts } from './json/long-texts.ts';
import type { Losses } from './loss.ts';
import type { ModelRequest, WireFormat } from './request.ts';
import type { ToolNames } from './wire/tool-names.ts';

/** The context of a reply's conversion. */
export interface ReplyContext {
  /** Unique per request, lower-case hexadecimal; ids that a wire format needs are derived from it. */
  readonly id: string;
  /** When the request arrived, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The current time in milliseconds since 1970, for protocols whose replies hold a completion time. */
  readonly nowMs: () => number;
  /** The request as the client's protocol decoded it. */
  readonly request: ModelRequest;
  /** The client's parsed body, for protocols whose replies echo parts of it. */
  readonly clientBody: JsonObject;
  /** The upstream's name of the requested model. */
  readonly model: string;
  readonly names: ToolNames;
  readonly losses: Losses;
  /** Prompt tokens: counted if a rule needed the count, else estimated. */
  readonly inputEstimate: number;
  /** Strings of a large reply that were read in several pieces. Absent: it isn't large, or not whole. */
  longTexts?: LongTexts;
}

/** The context of encoding a request for an upstream. */
export interface RequestContext {
  readonly names: ToolNames;
  readonly losses: Losses;
  /** The reply is relayed, so it must be requested in the form that the client requested. */
  readonly replyIsRelayed: boolean;
  /** The client's wire format: an absent field keeps the meaning that absence has in that format. */
  readonly client?: WireFormat | undefined;
}
