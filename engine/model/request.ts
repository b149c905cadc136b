import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from './json/json.ts';
import type { Signature } from './reasoning/signature.ts';
import { clientWires } from './wire/client-wires.ts';

/**
 * A model request, independent of protocols. Content consists of content blocks, which can represent all wire formats. Every
 * member that a conversion can't represent becomes a loss, so nodes keep their path in the client's body.
 */
export interface ModelRequest {
  /** The model's name: the client's until routing, then the upstream's. Empty: the client names none, so the rules decide. */
  readonly model: string;
  /** The instructions at the front, in order. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Tools that the model may not see before a search of the client's finds them; then `tools` has them too. */
  readonly deferredTools?: readonly Tool[] | undefined;
  /** The conversation's objects that declare tools, by place. `tools` has what they declare. */
  readonly toolItems?: readonly ToolItem[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  /** `false`: at most one tool call in the answer. */
  readonly parallelToolCalls?: boolean | undefined;
  /** Maximum tokens of the answer, reasoning included. */
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
  /** The request asks this; `system`, `turns` and `output` say the same to models that write texts. */
  readonly decision?: DecisionQuestion | undefined;
  readonly verbosity?: 'low' | 'medium' | 'high' | undefined;
  readonly stream: boolean;
  /** The client wants a summary of the conversation in place of an answer. */
  readonly compaction?: Compaction | undefined;
  /** Whether the client wants token counts in a stream, if its wire format has that option. */
  readonly streamUsage?: boolean | undefined;
  /** A stable name of the end user, for the vendor's abuse checks. */
  readonly user?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly serviceTier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  /** Whether the vendor stores the answer. Absent: the vendor's default. */
  readonly store?: boolean | undefined;
  /** Marks the last cacheable block automatically. */
  readonly cache?: CacheMark | undefined;
  /** Members that only the client's wire format knows. */
  readonly extra?: Extra | undefined;
}

/** A client's request for a summary that later requests have in place of the conversation. */
export interface Compaction {
  /** Path of what asks for it in the client's body, or of the conversation. */
  readonly at: string;
  /** The request's own path asks for it. The answer is an object of its own kind. */
  readonly byPath?: true;
  /** The members of the body that ask for it, in the client's wire format. */
  readonly raw?: { readonly wire: WireFormat; readonly value: JsonObject } | undefined;
  /** The client's own prompt for it. */
  readonly instructions?: string | undefined;
}

/** The wire formats of requests and replies. Clients use neither Gemini's nor those for decisions. */
export const wireFormats = [...clientWires, 'gemini', 'decisions'] as const;
export type WireFormat = (typeof wireFormats)[number];

/**
 * Members of a wire object that the model doesn't represent. The encoder of the same wire format writes them back; every
 * other encoder records them as losses.
 */
export interface Extra {
  readonly wire: WireFormat;
  /** Path of the object that holds them, in the client's spelling; empty for the request itself. */
  readonly at: string;
  readonly fields: JsonObject;
  /** Members of the enclosing object, if it has no node of its own. */
  readonly outer?: Extra | undefined;
  /** The client's own text, if the node only represents it. */
  readonly original?: Original | undefined;
}

/** The client's own objects. Their wire format's encoder writes these instead of the node, possibly none. */
interface Original {
  readonly objects: readonly JsonObject[];
  /** The node's approximation of them, if other formats have no exact form; recorded as a loss. */
  readonly became?: string | undefined;
}

/** An object of a conversation that declares tools. Only its own wire format has such objects. */
export interface ToolItem {
  readonly wire: WireFormat;
  readonly at: string;
  readonly raw: JsonObject;
}

/** Members that every node of a request may have. */
interface Node {
  /** Path in the client's body (`messages[3].content[1]`), for losses and faults. */
  readonly at?: string | undefined;
  readonly extra?: Extra | undefined;
}

/**
 * One turn of the conversation. Tool results are parts of the user turn after the calls. Adjacent turns may have the same
 * role. A `system` turn is an instruction in the middle of the conversation; it holds text only.
 */
export interface Turn extends Node {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
  /** The speaker's name, where the client gave one. */
  readonly name?: string | undefined;
  /** The reasoning effort from this turn on; `extra` holds it in the client's form. */
  readonly effort?: Effort | undefined;
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

/** A file that the client uploaded to one vendor; other vendors can't read it. */
export interface FileSource {
  readonly kind: 'file';
  readonly id: string;
  /** The vendor's wire format; absent if unknown. */
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

interface TextSource {
  readonly kind: 'text';
  readonly text: string;
}

interface ContentSource {
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

/** The text with which the model declined to answer. */
export interface RefusalPart extends Node {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ThinkingPart extends Node {
  readonly type: 'thinking';
  readonly text: string;
  /** Absent if the client sent reasoning without a payload. */
  readonly signature?: Signature | undefined;
}

/** Encrypted reasoning, which only its vendor can read. */
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
  /** A payload that belongs to this call. */
  readonly signature?: Signature | undefined;
}

/**
 * A call's arguments: JSON text or an object, as the wire format has it. Most requests need no conversion; `inputText` and
 * `inputObject` return the other form. An object with numbers that a double can't hold is text too. A custom tool's input is
 * `{"input": "…"}`.
 */
export type ToolInput = string | JsonObject;

/** A call's arguments as JSON text; `{}` if there are none. */
export const inputText = (input: ToolInput): string =>
  typeof input === 'string' ? (input.trim() === '' ? '{}' : input) : writeJson(input);

/** A call's arguments as an object; `undefined` if the text isn't one, as in a call cut off at the token limit. */
export const inputObject = (input: ToolInput): JsonObject | undefined => {
  if (typeof input !== 'string') return input;
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isJsonObject(value) ? value : undefined;
};

export interface ToolResultPart extends Node {
  readonly type: 'tool-result';
  /** The id of the call. */
  readonly id: string;
  readonly content: readonly Part[];
  readonly isError?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A block that only one wire format knows (a hosted tool's call or result, a compaction …), unchanged. */
export interface OpaquePart extends Node {
  readonly type: 'opaque';
  readonly wire: WireFormat;
  readonly raw: JsonObject;
  /** The payload in it without which the conversation is another one: only its issuer may get the block. */
  readonly signature?: Signature | undefined;
}

/** Marks the end of a prompt prefix to cache. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h' | undefined;
}

/** The source of a part of an answer's text. */
export type Citation = UrlCitation | OpaqueCitation;

export interface UrlCitation {
  readonly type: 'url';
  readonly url: string;
  readonly title?: string | undefined;
  /** The cited text of the source. */
  readonly quote?: string | undefined;
  /** Range in the answer's text, in UTF-16 units; absent if the vendor doesn't report it. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The vendor's form, for the same wire format. */
  readonly raw?: { readonly wire: WireFormat; readonly value: JsonObject } | undefined;
}

interface OpaqueCitation {
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
  /** The client's group of the tool. */
  readonly namespace?: Namespace | undefined;
}

/** A tool that the client runs, called with free text, optionally constrained by a grammar. */
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
  readonly description?: string | undefined;
}

/** A web search that the vendor runs. */
export interface WebSearchTool extends Node {
  readonly type: 'web-search';
  readonly maxUses?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
  readonly userLocation?: JsonObject | undefined;
  readonly contextSize?: 'low' | 'medium' | 'high' | undefined;
  /** The client's form, for the same wire format. */
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
  /** A choice that only one wire format knows, for example a hosted tool. */
  | { readonly type: 'opaque'; readonly wire: WireFormat; readonly value: Json };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The client's reasoning settings. */
export interface Reasoning {
  /**
   * `adaptive`: the model decides; `between-tools`: only between tool calls. Absent: the client set only an effort.
   */
  readonly mode?: 'off' | 'on' | 'adaptive' | 'between-tools' | undefined;
  readonly effort?: Effort | undefined;
  /** Token budget. */
  readonly budget?: number | undefined;
  /** Whether and how detailed the client wants to see the reasoning. Absent: the vendor's default. */
  readonly show?: 'hidden' | 'auto' | 'concise' | 'detailed' | undefined;
  /** The client's wire format: its encoder writes the settings back instead of translating an effort. */
  readonly wire?: WireFormat | undefined;
  /**
   * The same settings in a provider's own form, as members of a Chat Completions body. They replace the encoder's guess for an
   * unknown vendor; all other encoders ignore them.
   */
  readonly providerMembers?: JsonObject | undefined;
}

/** The effort that the answer is asked for: that of the last turn that sets one, else the request's. */
export const askedEffort = ({ turns, reasoning }: ModelRequest): Effort | undefined =>
  turns.findLast(({ effort }) => effort !== undefined)?.effort ?? reasoning?.effort;

/** Whether reasoning is switched off. */
export const isOff = ({ mode, effort }: Reasoning): boolean =>
  mode === 'off' || (mode === undefined && effort === 'none');

/** A question about a text that has one of a few answers. */
export interface DecisionQuestion {
  readonly question: string;
  /** Two or more, none twice. */
  readonly answers: readonly string[];
  /** The text that it is about. */
  readonly about: string;
}

export type OutputFormat =
  | { readonly type: 'text' }
  /** Any JSON object. */
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly schema: JsonObject;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly strict?: boolean | undefined;
    };

/** A vendor's web search as a client has it, for asking what an encoder makes of it. */
export const webSearchProbe = {
  type: 'web-search',
  raw: { wire: 'messages', value: {} },
  at: 'tools[0]',
} as const satisfies Tool;

/** A request with only a model, to see what the rules make of its name. */
export const probeRequest = (model: string): ModelRequest => ({
  model,
  system: [],
  turns: [],
  tools: [],
  stream: false,
});

/** Media types that clients send but vendors reject, with their registered names. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
]);

/** Normalizes a media type: lower case, no parameters, registered name. */
export const mediaTypeOf = (text: string): string => {
  const plain = (text.split(';', 1)[0] ?? '').trim().toLowerCase();
  return aliases.get(plain) ?? plain;
};
