import { type Block, type FinishReason, type MessageStop, type ModelEvent, mergeUsage, type Usage } from './event.ts';
import type { Fault } from './fault.ts';
import type { JsonObject } from './json/json.ts';
import type { Signature } from './reasoning/signature.ts';
import type { Citation } from './request.ts';

/** A whole answer, folded from its events. */
export interface Reply {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly ReplyBlock[];
  readonly finish: FinishReason;
  readonly stopSequence?: string | undefined;
  readonly usage: Usage;
  readonly extra?: MessageStop['extra'];
}

/** A block with all its deltas joined. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: readonly Citation[] }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: Signature | undefined }
  | { readonly type: 'redacted-thinking'; readonly signature: Signature }
  | {
      readonly type: 'tool-call';
      readonly id: string;
      readonly name: string;
      /** JSON text as the model wrote it; may be empty. */
      readonly json: string;
      readonly signature?: Signature | undefined;
    }
  | {
      readonly type: 'opaque';
      readonly block: Extract<Block, { type: 'opaque' }>;
      readonly deltas: readonly JsonObject[];
      /** Joined input deltas, if the block has any. */
      readonly json: string;
    };

/** Folds events into a reply, or the fault that ended them. Events without `message-stop` are a truncated answer. */
export const foldReply = (events: Iterable<ModelEvent>): Reply | Fault => {
  let id = '';
  let model = '';
  let usage: Usage = {};
  const blocks: Draft[] = [];
  for (const event of events) {
    switch (event.type) {
      case 'message-start':
        id = event.id;
        model = event.model;
        usage = event.usage ?? {};
        break;
      case 'block-start':
        blocks.push({ block: event.block, text: '', json: '', raw: [], citations: [], signature: undefined });
        break;
      case 'text-delta':
      case 'thinking-delta': {
        const last = blocks.at(-1);
        if (last) last.text += event.text;
        break;
      }
      case 'input-delta': {
        const last = blocks.at(-1);
        if (last) last.json += event.json;
        break;
      }
      case 'opaque-delta':
        blocks.at(-1)?.raw.push(event.raw);
        break;
      case 'citation-delta':
        blocks.at(-1)?.citations.push(event.citation);
        break;
      case 'signature-delta': {
        const last = blocks.at(-1);
        if (last) last.signature = event.signature;
        break;
      }
      case 'block-stop':
        break;
      case 'message-stop':
        return {
          id,
          model,
          blocks: blocks.map(finishBlock),
          finish: event.finish,
          stopSequence: event.stopSequence,
          usage: mergeUsage(usage, event.usage),
          extra: event.extra,
        };
      case 'error':
        return event.fault;
      default:
        return event satisfies never;
    }
  }
  return cutOff;
};

export const isFault = (reply: Reply | Fault): reply is Fault => 'kind' in reply;

/** The fault of an answer that ended before it was complete. */
export const cutOff: Fault = {
  kind: 'upstream-cut',
  message: 'The upstream ended its answer before it was complete.',
};

/** As `cutOff`, with what the upstream said outside the framing of its stream; `read` reads it as an error. Empty: it said nothing. */
export const cutOffAfter = (said: string, read: (error: { readonly message: string }) => Fault): Fault => {
  if (said === '') return cutOff;
  const fault = read({ message: said });
  return fault.kind === 'upstream-error'
    ? { ...cutOff, message: `${cutOff.message.slice(0, -1)}: ${fault.message}` }
    : fault;
};

interface Draft {
  readonly block: Block;
  text: string;
  json: string;
  readonly raw: JsonObject[];
  readonly citations: Citation[];
  signature: Signature | undefined;
}

const finishBlock = ({ block, text, json, raw, citations, signature }: Draft): ReplyBlock => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text, citations };
    case 'refusal':
      return { type: 'refusal', text };
    case 'thinking':
      return { type: 'thinking', text, signature };
    case 'redacted-thinking':
      return block;
    case 'tool-call':
      return { ...block, json };
    case 'opaque':
      return { type: 'opaque', block, deltas: raw, json };
    default:
      return block satisfies never;
  }
};
