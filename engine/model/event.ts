import type { Fault } from './fault.ts';
import type { JsonObject } from './json.ts';
import type { Citation, WireFormat } from './request.ts';
import type { Signature } from './signature.ts';
import type { Usage } from './usage.ts';

/**
 * One step of a model's answer. Every wire format is read into these and written from these.
 * Order: `message-start (block-start delta* block-stop)* message-stop`; `error` may come at any point and ends it: nothing
 * follows, open blocks stay open. Blocks never nest or overlap; `index` counts them from 0.
 */
export type ModelEvent =
  | MessageStart
  | BlockStart
  | TextDelta
  | ThinkingDelta
  | SignatureDelta
  | CitationDelta
  | InputDelta
  | OpaqueDelta
  | BlockStop
  | MessageStop
  | ErrorEvent;

export interface MessageStart {
  readonly type: 'message-start';
  /** The upstream's own id of the answer; empty when it gave none. */
  readonly id: string;
  /** The upstream's own word for the model that answers. */
  readonly model: string;
  /** What is known of the usage before the answer begins. */
  readonly usage?: Usage | undefined;
}

export interface BlockStart {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: Block;
}

/** What opens. All content comes in deltas, but that of the kinds whose wire form has none. */
export type Block =
  | { readonly type: 'text' }
  /** The model declines to answer; its words come as text deltas. */
  | { readonly type: 'refusal' }
  /** Text comes as thinking deltas; at most one signature delta, after them. */
  | { readonly type: 'thinking' }
  | { readonly type: 'redacted-thinking'; readonly signature: Signature }
  /** Arguments come as input deltas; none at all means `{}`. `name` is that of the request's tool. */
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly signature?: Signature | undefined;
    }
  /** A block that only one wire format knows, as its start was written there. */
  | { readonly type: 'opaque'; readonly wire: WireFormat; readonly raw: JsonObject };

/** A piece of a text or refusal block. Never empty. */
export interface TextDelta {
  readonly type: 'text-delta';
  readonly index: number;
  readonly text: string;
}

/** A piece of a thinking block. Never empty. */
export interface ThinkingDelta {
  readonly type: 'thinking-delta';
  readonly index: number;
  readonly text: string;
}

/** The payload that seals a thinking block. */
export interface SignatureDelta {
  readonly type: 'signature-delta';
  readonly index: number;
  readonly signature: Signature;
}

/** A source of the text block's content. */
export interface CitationDelta {
  readonly type: 'citation-delta';
  readonly index: number;
  readonly citation: Citation;
}

/** A piece of a tool call's arguments: JSON text that parses only once its block has stopped. Never empty. */
export interface InputDelta {
  readonly type: 'input-delta';
  readonly index: number;
  readonly json: string;
}

/** A delta of an opaque block, as written on its wire. */
export interface OpaqueDelta {
  readonly type: 'opaque-delta';
  readonly index: number;
  readonly raw: JsonObject;
}

export interface BlockStop {
  readonly type: 'block-stop';
  readonly index: number;
}

/** The answer's regular end. */
export interface MessageStop {
  readonly type: 'message-stop';
  readonly finish: FinishReason;
  /** The stop sequence that ended the answer, where the upstream tells. */
  readonly stopSequence?: string | undefined;
  readonly usage: Usage;
  /** Members of the end that only one wire format knows (Messages: `stop_details`, `container` …). */
  readonly extra?: { readonly wire: WireFormat; readonly fields: JsonObject } | undefined;
}

/** The answer failed. */
export interface ErrorEvent {
  readonly type: 'error';
  readonly fault: Fault;
}

/** Why an answer ended. A reply with tool calls is `tool-call` whatever the upstream's word, but for `length`. */
export type FinishReason =
  | 'end'
  | 'stop-sequence'
  | 'length'
  | 'context-full'
  | 'tool-call'
  /** Cut or refused by a filter, or declined by the model. */
  | 'filtered'
  /** A long turn of hosted tools was paused; sent back, it goes on. */
  | 'pause'
  /** The conversation was compacted. */
  | 'compaction';
