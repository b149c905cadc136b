import type { Json, JsonObject } from './json.ts';
import type { Signature } from './signature.ts';

/**
 * What a client asks of a model, in no protocol's words. Content is modelled on content blocks, into which the other wire
 * formats fit. Every member that a conversion can't carry becomes a loss, so nodes know where the client wrote them.
 */
export interface ModelRequest {
  /** The model's name: the client's word until routing, then the upstream's. */
  readonly model: string;
  /** The instructions at the front, in order. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  /** `false`: at most one tool call in the answer. */
  readonly parallelToolCalls?: boolean | undefined;
  /** Upper limit of the answer's tokens, reasoning included. */
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly logitBias?: Readonly<Record<string, number>> | undefined;
  readonly reasoning?: Reasoning | undefined;
  readonly output?: OutputFormat | undefined;
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined;
  readonly stream: boolean;
  /** Whether the client wants a stream's token counts, where its wire format leaves that to it. */
  readonly streamUsage?: boolean | undefined;
  /** A stable name of the end user, for the vendor's abuse checks. */
  readonly user?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly serviceTier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  /** Whether the vendor is to keep the answer on its server. Absent: the vendor's default. */
  readonly store?: boolean | undefined;
  /** Marks the last cacheable block by itself. */
  readonly cache?: CacheMark | undefined;
  /** What only the client's own wire format knows. */
  readonly extra?: Extra | undefined;
}

/** The languages that requests and replies are written in. */
export type WireFormat = 'messages' | 'chat' | 'responses' | 'gemini';

/**
 * Members of a wire object that the model has no place for. The encoder of the same wire format writes them back; every
 * other encoder records them as losses.
 */
export interface Extra {
  readonly wire: WireFormat;
  /** Path of the object that held them, in the client's spelling; empty for the request itself. */
  readonly at: string;
  readonly fields: JsonObject;
  /** What the object around it held, where that one has no node of its own. */
  readonly outer?: Extra | undefined;
}

/** Members that every node of a request may have. */
interface Node {
  /** Where the client wrote it, in its own spelling (`messages[3].content[1]`); for losses and faults. */
  readonly at?: string | undefined;
  readonly extra?: Extra | undefined;
}

/**
 * One side's turn. Tool results are parts of the user's turn that follows the calls. Neighbouring turns may have the same
 * role. A `system` turn is an instruction in the middle of the conversation; it holds text only.
 */
export interface Turn extends Node {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
  /** The speaker's name, where the client gave one. */
  readonly name?: string | undefined;
}

/** One content block of a turn. */
export type Part =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | SearchResultPart
  | RefusalPart
  | ThinkingPart
  | RedactedThinkingPart
  | ToolCallPart
  | ToolResultPart
  | OpaquePart;

export interface TextPart extends Node {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheMark | undefined;
  readonly citations?: readonly Citation[] | undefined;
}

export interface ImagePart extends Node {
  readonly type: 'image';
  readonly source: ImageSource;
  readonly detail?: 'auto' | 'low' | 'high' | 'original' | undefined;
  readonly cache?: CacheMark | undefined;
}

export type ImageSource = Base64Source | UrlSource | FileSource;

export interface Base64Source {
  readonly kind: 'base64';
  /** MIME type, such as `image/png`. */
  readonly mediaType: string;
  readonly data: string;
}

export interface UrlSource {
  readonly kind: 'url';
  readonly url: string;
}

/** A file that the client uploaded to one vendor; nobody else knows it. */
export interface FileSource {
  readonly kind: 'file';
  readonly id: string;
  /** Whose file it is; absent when nobody said. */
  readonly wire?: WireFormat | undefined;
}

export interface DocumentPart extends Node {
  readonly type: 'document';
  readonly source: Base64Source | UrlSource | FileSource | TextSource | ContentSource;
  /** Title or file name. */
  readonly title?: string | undefined;
  readonly context?: string | undefined;
  /** Whether the answer is to cite it. */
  readonly cite?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface TextSource {
  readonly kind: 'text';
  readonly text: string;
}

export interface ContentSource {
  readonly kind: 'content';
  readonly parts: readonly Part[];
}

export interface AudioPart extends Node {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  /** `wav`, `mp3` … */
  readonly format: string;
}

export interface SearchResultPart extends Node {
  readonly type: 'search-result';
  readonly source: string;
  readonly title: string;
  readonly content: readonly TextPart[];
  readonly cite?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

/** The model declined to answer; this is what it said. */
export interface RefusalPart extends Node {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ThinkingPart extends Node {
  readonly type: 'thinking';
  readonly text: string;
  /** Absent when the client sent reasoning without any payload. */
  readonly signature?: Signature | undefined;
}

/** Reasoning that only its vendor can read. */
export interface RedactedThinkingPart extends Node {
  readonly type: 'redacted-thinking';
  readonly signature: Signature;
}

export interface ToolCallPart extends Node {
  readonly type: 'tool-call';
  readonly id: string;
  /** The name of the tool in `ModelRequest.tools`. */
  readonly name: string;
  readonly input: ToolInput;
  readonly cache?: CacheMark | undefined;
  /** A payload that belongs to this very call. */
  readonly signature?: Signature | undefined;
}

/**
 * A call's arguments: JSON text where the wire format holds text, else the object. Kept as it came, since most requests need
 * no conversion; `inputText` and `inputObject` give the other form. A custom tool's input is `{"input": "…"}`.
 */
export type ToolInput = string | JsonObject;

export interface ToolResultPart extends Node {
  readonly type: 'tool-result';
  /** The id of the call that this answers. */
  readonly id: string;
  readonly content: readonly Part[];
  readonly isError?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A block that only one wire format knows (a hosted tool's call or result, a compaction …), as it came. */
export interface OpaquePart extends Node {
  readonly type: 'opaque';
  readonly wire: WireFormat;
  readonly raw: JsonObject;
}

/** Ends a part of the prompt that the vendor is to cache. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h' | undefined;
}

/** Where a piece of an answer's text comes from. */
export type Citation = UrlCitation | OpaqueCitation;

export interface UrlCitation {
  readonly type: 'url';
  readonly url: string;
  readonly title?: string | undefined;
  /** What the source says. */
  readonly quote?: string | undefined;
  /** Where in the answer's text, in UTF-16 units; absent where the vendor doesn't say. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The vendor's own form, for the same wire format. */
  readonly raw?: { readonly wire: WireFormat; readonly value: JsonObject } | undefined;
}

export interface OpaqueCitation {
  readonly type: 'opaque';
  readonly wire: WireFormat;
  readonly value: JsonObject;
}

export type Tool = FunctionTool | CustomTool | WebSearchTool | HostedTool;

/** A tool that the client runs, called with JSON arguments. */
export interface FunctionTool extends Node {
  readonly type: 'function';
  /** Unique in the request. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent: none. */
  readonly parameters?: JsonObject | undefined;
  readonly strict?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
  /** The group that the client keeps it in. */
  readonly namespace?: Namespace | undefined;
}

/** A tool that the client runs, called with free text, maybe held to a grammar. */
export interface CustomTool extends Node {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string | undefined;
  readonly format?: JsonObject | undefined;
  readonly namespace?: Namespace | undefined;
}

/** A named group of tools. */
export interface Namespace {
  readonly name: string;
  /** The tool's name inside the group. */
  readonly local: string;
  /** What the group is for. */
  readonly description?: string | undefined;
}

/** A web search that the vendor runs by itself. */
export interface WebSearchTool extends Node {
  readonly type: 'web-search';
  readonly maxUses?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
  readonly userLocation?: JsonObject | undefined;
  readonly contextSize?: 'low' | 'medium' | 'high' | undefined;
  /** The tool as the client wrote it, for the same wire format. */
  readonly raw: { readonly wire: WireFormat; readonly value: JsonObject };
}

/** Any other tool that one vendor defines. */
export interface HostedTool extends Node {
  readonly type: 'hosted';
  readonly wire: WireFormat;
  /** The wire's own `type`. */
  readonly kind: string;
  readonly name?: string | undefined;
  readonly raw: JsonObject;
}

export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  /** Some tool must be called. */
  | { readonly type: 'required' }
  /** This tool must be called. */
  | { readonly type: 'tool'; readonly name: string }
  /** Only these tools may (or must) be called. */
  | { readonly type: 'allowed'; readonly required: boolean; readonly names: readonly string[] }
  /** A choice that only one wire format knows, such as a hosted tool. */
  | { readonly type: 'opaque'; readonly wire: WireFormat; readonly value: Json };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much the model is to think, as far as the client said. */
export interface Reasoning {
  /**
   * `off`: not at all; `on`: yes; `adaptive`: as the model sees fit; `between-tools`: only between tool calls. Absent: the
   * client named an effort alone.
   */
  readonly mode?: 'off' | 'on' | 'adaptive' | 'between-tools' | undefined;
  readonly effort?: Effort | undefined;
  /** Token budget. */
  readonly budget?: number | undefined;
  /** Whether, and at what length, the client wants to see the reasoning. Absent: the vendor's default. */
  readonly show?: 'hidden' | 'auto' | 'concise' | 'detailed' | undefined;
  /** The wire format in whose words the client said it: its encoder writes them back instead of translating an effort. */
  readonly wire?: WireFormat | undefined;
  /**
   * The same in the words of one provider, as members of a Chat Completions body. They are written in place of the guess that
   * the encoder makes for a vendor of which nothing is known; every other encoder knows better.
   */
  readonly providerWords?: JsonObject | undefined;
}

export type OutputFormat =
  | { readonly type: 'text' }
  /** Some JSON object. */
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly schema: JsonObject;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly strict?: boolean | undefined;
    };
