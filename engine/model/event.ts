import { type Fault, fail } from './fault.ts';
import type { JsonObject } from './json/json.ts';
import type { Signature } from './reasoning/signature.ts';
import type { Citation, WireFormat } from './request.ts';
import type { ClientWire } from './wire/client-wires.ts';

/**
 * Token counts of one answer. The three input counts are disjoint; their sum is the whole prompt.
 * A count that the upstream didn't report is `undefined`, never 0.
 */
export interface Usage {
  /** Input tokens neither read from nor written to a cache. */
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** The part of `cacheWrite` that is kept for an hour. */
  readonly cacheWrite1h?: number | undefined;
  /** All output tokens, reasoning included. */
  readonly output?: number | undefined;
  /** The part of `output` spent on reasoning. */
  readonly reasoning?: number | undefined;
  /** Web searches that the upstream ran. */
  readonly webSearches?: number | undefined;
  /** The service tier that the upstream reports. */
  readonly serviceTier?: string | undefined;
  /** The speed that the upstream reports: `fast` costs more. */
  readonly speed?: string | undefined;
  /** The region in which the upstream computed the answer, if it reports one. */
  readonly geography?: string | undefined;
  /** The request's cost as reported by the upstream, in USD. */
  readonly costUsd?: number | undefined;
}

/** Merges two reports: each count of `later` overrides that of `earlier`. */
export const mergeUsage = (earlier: Usage, later: Usage): Usage => {
  const merged: Record<string, unknown> = { ...earlier };
  let name: keyof Usage;
  for (name in later) if (later[name] !== undefined) merged[name] = later[name];
  return merged;
};

/** The sum of several answers: counts add up, of anything else the later one counts. */
export const sumUsage = (earlier: Usage, later: Usage): Usage => {
  const summed: Record<string, unknown> = { ...mergeUsage(earlier, later) };
  let name: keyof Usage;
  for (name in earlier) {
    const [one, other] = [earlier[name], later[name]];
    if (typeof one === 'number' && typeof other === 'number') summed[name] = one + other;
  }
  return summed;
};

/** More than any answer can have, in tokens or searches; a year of such answers still sums up to a safe integer. */
const maxCount = 1_000_000_000;
const maxCostUsd = 1_000_000;

/**
 * Usage as far as it can be true: counts are whole, none is negative or beyond any answer. An upstream's other numbers count as absent,
 * so that none of them spoils the sums of tokens, costs and budgets.
 */
export const plausibleUsage = (usage: Usage): Usage => {
  let name: keyof Usage;
  for (name in usage) {
    if (!isPlausible(name, usage[name])) {
      return Object.fromEntries(Object.entries(usage).filter(([member, value]) => isPlausible(member, value)));
    }
  }
  return usage;
};

const isPlausible = (name: string, value: unknown): boolean => {
  if (typeof value !== 'number') return true;
  return name === 'costUsd'
    ? value >= 0 && value <= maxCostUsd
    : Number.isInteger(value) && value >= 0 && value <= maxCount;
};

/** All prompt tokens, cached or not. */
export const promptTokens = (usage: Usage): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);

/**
 * One event of a model's answer. Every wire format is decoded into these and encoded from these.
 * Order: `message-start (block-start delta* block-stop)* message-stop`. `error` may occur at any point and is the last event;
 * open blocks stay open then. Blocks never nest or overlap; `index` counts them from 0.
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
  /** The upstream's id of the answer; empty if it gave none. */
  readonly id: string;
  /** The upstream's name of the model that answers. */
  readonly model: string;
  /** Usage known before the answer starts. */
  readonly usage?: Usage | undefined;
}

export interface BlockStart {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: Block;
}

/** A block's type and its content that doesn't arrive in deltas. */
export type Block =
  | { readonly type: 'text' }
  /** The model declines to answer; the text arrives in text deltas. */
  | { readonly type: 'refusal' }
  /** The text arrives in thinking deltas, followed by at most one signature delta. */
  | { readonly type: 'thinking' }
  | { readonly type: 'redacted-thinking'; readonly signature: Signature }
  /** Arguments arrive in input deltas; without deltas they are `{}`. `name` is the request's name of the tool. */
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      readonly signature?: Signature | undefined;
    }
  /** A block that only one wire format knows; `raw` is its start in that format. */
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

/** The signature of a thinking block. */
interface SignatureDelta {
  readonly type: 'signature-delta';
  readonly index: number;
  readonly signature: Signature;
}

/** A citation for the text block's content. */
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

/** A delta of an opaque block, in its wire format. */
interface OpaqueDelta {
  readonly type: 'opaque-delta';
  readonly index: number;
  readonly raw: JsonObject;
  /** The payload that a later request must hold, and only its issuer can read. */
  readonly signature?: Signature | undefined;
}

export interface BlockStop {
  readonly type: 'block-stop';
  readonly index: number;
}

/** The regular end of the answer. */
export interface MessageStop {
  readonly type: 'message-stop';
  readonly finish: FinishReason;
  /** The stop sequence that ended the answer, if the upstream reports it. */
  readonly stopSequence?: string | undefined;
  readonly usage: Usage;
  /**
   * Of a decision: how likely each answer is, from 0 to 1, as far as the upstream says. Absent, as is an answer in it: the upstream says
   * nothing.
   */
  readonly probabilities?: Readonly<Record<string, number>> | undefined;
  /** Members of the end that only one wire format knows (Messages: `stop_details`, `container` …). */
  readonly extra?: { readonly wire: WireFormat; readonly fields: JsonObject } | undefined;
}

/** The answer failed. */
export interface ErrorEvent {
  readonly type: 'error';
  readonly fault: Fault;
}

/** Why an answer ended. With tool calls it is `tool-call` whatever the upstream reports, except for `length`. */
export type FinishReason =
  | 'end'
  | 'stop-sequence'
  | 'length'
  | 'context-full'
  | 'tool-call'
  /** Cut off or blocked by a filter, or declined by the model. */
  | 'filtered'
  /** A long turn of hosted tools was paused; sending it back continues it. */
  | 'pause'
  /** The conversation was compacted. */
  | 'compaction';

/** The events of one network chunk. */
export type Batch = readonly ModelEvent[];

/** An event of a block. */
type BlockEvent = Extract<ModelEvent, { readonly index: number }>;

/** The event with another block index, for stages that add or remove blocks. */
export const withIndex = <E extends BlockEvent>(event: E, index: number): E =>
  event.index === index ? event : { ...event, index };

/** Whether the events from `from` on are exactly one content delta: a stream has many such records of equal form. */
export const isSingleDelta = (events: readonly ModelEvent[], from: number): boolean => {
  const type = events.length === from + 1 ? events[from]?.type : undefined;
  return type === 'text-delta' || type === 'thinking-delta' || type === 'input-delta';
};

/** Service tiers, named as in OpenAI's reference; `batch` is Anthropic's. */
export type ServiceTier = 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'batch';

/**
 * All vendors' names of tiers, in requests and replies. Sources: Anthropic API reference, "Service tiers"; OpenAI, Gemini and
 * Groq API references, `service_tier`.
 */
const tiers: ReadonlyMap<string, ServiceTier> = new Map([
  ['auto', 'auto'],
  ['default', 'default'],
  ['standard', 'default'],
  ['standard_only', 'default'],
  ['on_demand', 'default'],
  ['flex', 'flex'],
  ['scale', 'scale'],
  ['priority', 'priority'],
  ['performance', 'priority'],
  ['batch', 'batch'],
]);

const openAiNames = { auto: 'auto', default: 'default', flex: 'flex', scale: 'scale', priority: 'priority' } as const;

/** The tier names that each client protocol allows in a reply. Typed clients reject any other name. */
const replyNames: Readonly<Record<ClientWire, Readonly<Partial<Record<ServiceTier, string>>>>> = {
  messages: { default: 'standard', priority: 'priority', batch: 'batch' },
  chat: openAiNames,
  responses: openAiNames,
};

/** The tier of a vendor's name; `undefined` for an unknown name. */
export const tierOf = (name: string | undefined): ServiceTier | undefined =>
  name === undefined ? undefined : tiers.get(name.toLowerCase());

/** The client protocol's name of a tier; `undefined` if it has none. */
export const replyTier = (client: ClientWire, name: string | undefined): string | undefined => {
  const tier = tierOf(name);
  return tier && replyNames[client][tier];
};

/**
 * The most blocks of one answer: its calls, texts, images and other parts. Far beyond what a model writes; an answer with more
 * would keep the event loop from other requests.
 */
const maxBlocks = 10_000;

/** Throws if an answer that has `blocks` begins another one. */
export const boundBlocks = (blocks: number): void => {
  if (blocks >= maxBlocks)
    fail('upstream-garbled', `The upstream's answer has more than ${maxBlocks} tool calls and other parts.`);
};
