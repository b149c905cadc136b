import type { ReplyContext } from '../../../engine/model/context.ts';
import {
  type Block,
  boundBlocks,
  type FinishReason,
  type ModelEvent,
  mergeUsage,
  type Usage,
} from '../../../engine/model/event.ts';
import { DeltaParser } from '../../../engine/model/json/delta-parser.ts';
import {
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  writeJson,
} from '../../../engine/model/json/json.ts';
import { recordTransformations } from '../../../engine/model/record-losses.ts';
import { cutOff } from '../../../engine/model/reply.ts';
import { decodeCitation } from '../citations.ts';
import { decodeFinish, decodeUsage, otherUsage } from '../reply-end.ts';

/** The state of a reply while it is decoded, streamed or whole. */
export interface ReplyState {
  readonly context: ReplyContext;
  /** Parser for the records that hold a single delta. */
  readonly deltaParser: DeltaParser<JsonObject>;
  started: boolean;
  done: boolean;
  /** Text outside the framing since the last record. */
  said: string;
  /** Blocks started so far; the open one has the index `blocks - 1`. */
  blocks: number;
  open: Block['type'] | undefined;
  /** The open block's index on the wire. */
  wireIndex: Json | undefined;
  /** The open thinking block's signature; sent at its end. */
  signature: string;
  /** The open tool call's arguments from its start; used if no delta follows. */
  input: Json | undefined;
  calledTools: boolean;
  stopReason: string | undefined;
  stopSequence: string | undefined;
  usage: Usage;
  /** Unmodelled members of the end, and of `usage`. */
  readonly rest: JsonDraft;
  readonly usageRest: JsonDraft;
}

export const newReplyState = (context: ReplyContext): ReplyState => ({
  context,
  deltaParser: new DeltaParser(),
  started: false,
  done: false,
  said: '',
  blocks: 0,
  open: undefined,
  wireIndex: undefined,
  signature: '',
  input: undefined,
  calledTools: false,
  stopReason: undefined,
  stopSequence: undefined,
  usage: {},
  rest: {},
  usageRest: {},
});

/** Reads the start of a message. A second one is ignored. */
export const startMessage = (state: ReplyState, message: JsonObject, out: ModelEvent[]): void => {
  if (state.started) return;
  state.started = true;
  readUsage(state, message.usage);
  readTransformations(state, message);
  out.push({ type: 'message-start', id: text(message.id), model: text(message.model), usage: state.usage });
};

/** Reads a block's start, or a whole block of a reply that isn't streamed. */
export const startBlock = (state: ReplyState, block: JsonObject, out: ModelEvent[]): void => {
  if (!state.started) startMessage(state, {}, out);
  stopBlock(state, out);
  switch (block.type) {
    case 'text':
      open(state, { type: 'text' }, out);
      readCitations(state, block.citations, out);
      readText(state, block.text, out);
      return;
    case 'thinking':
      open(state, { type: 'thinking' }, out);
      readThinking(state, block.thinking, out);
      state.signature = text(block.signature);
      return;
    case 'redacted_thinking':
      open(state, { type: 'redacted-thinking', signature: { format: 'messages', data: text(block.data) } }, out);
      return;
    case 'tool_use':
      openCall(state, block, out);
      return;
    default:
      open(state, { type: 'opaque', wire: 'messages', raw: block }, out);
  }
};

/** Reads a delta of the open block. A delta of the wrong type is skipped, except text, which opens a block. */
export const continueBlock = (state: ReplyState, delta: JsonObject, out: ModelEvent[]): void => {
  if (state.open === 'opaque') {
    out.push({ type: 'opaque-delta', index: state.blocks - 1, raw: delta });
    return;
  }
  switch (delta.type) {
    case 'text_delta':
      readText(state, delta.text, out);
      return;
    case 'thinking_delta':
      readThinking(state, delta.thinking, out);
      return;
    case 'signature_delta':
      if (state.open === 'thinking') state.signature = text(delta.signature);
      return;
    case 'citations_delta':
      if (isJsonObject(delta.citation)) readCitations(state, [delta.citation], out);
      return;
    case 'input_json_delta':
      readInput(state, text(delta.partial_json), out);
  }
};

/** Ends the open block, if any. */
export const stopBlock = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.open === undefined) return;
  const index = state.blocks - 1;
  if (state.signature !== '') {
    out.push({ type: 'signature-delta', index, signature: { format: 'messages', data: state.signature } });
  }
  if (isJsonObject(state.input) && Object.keys(state.input).length > 0) {
    out.push({ type: 'input-delta', index, json: writeJson(state.input) });
  }
  out.push({ type: 'block-stop', index });
  state.open = undefined;
  state.signature = '';
  state.input = undefined;
};

/** Reads a `message_delta`: its members override earlier ones. */
export const readEnd = (state: ReplyState, { type, usage, delta, ...beside }: JsonObject): void => {
  readUsage(state, usage);
  readTransformations(state, beside);
  keepRest(state, beside);
  if (!isJsonObject(delta)) return;
  const { stop_reason, stop_sequence, ...rest } = delta;
  if (typeof stop_reason === 'string') state.stopReason = stop_reason;
  if (typeof stop_sequence === 'string') state.stopSequence = stop_sequence;
  readTransformations(state, rest);
  keepRest(state, rest);
};

/** The vendor's changes to the history. A client of this format gets the list, too. */
const readTransformations = (state: ReplyState, { input_transformations }: JsonObject): void => {
  if (!Array.isArray(input_transformations) || input_transformations.length === 0) return;
  recordTransformations(input_transformations, state.context.losses);
  state.rest.input_transformations = input_transformations;
};

/** Ends the message. Without a stop reason it was cut off. */
export const finish = (state: ReplyState, out: ModelEvent[]): void => {
  state.done = true;
  if (!state.started || state.stopReason === undefined) {
    out.push({ type: 'error', fault: cutOff });
    return;
  }
  stopBlock(state, out);
  const reason: FinishReason = decodeFinish(state.stopReason, state.calledTools);
  const hasUsage = Object.keys(state.usageRest).length > 0;
  const fields: JsonObject = hasUsage ? { ...state.rest, usage: state.usageRest } : state.rest;
  out.push({
    type: 'message-stop',
    finish: reason,
    stopSequence: state.stopSequence,
    usage: state.usage,
    extra: Object.keys(fields).length > 0 ? { wire: 'messages', fields } : undefined,
  });
};

const open = (state: ReplyState, block: Block, out: ModelEvent[]): void => {
  boundBlocks(state.blocks);
  out.push({ type: 'block-start', index: state.blocks, block });
  state.blocks += 1;
  state.open = block.type;
};

const openCall = (state: ReplyState, block: JsonObject, out: ModelEvent[]): void => {
  const { context } = state;
  // Only the vendor's own sandbox sets another caller, which the model can't hold.
  if (isJsonObject(block.caller) && block.caller.type !== 'direct') {
    context.losses.drop(`content[${state.blocks}].caller`);
  }
  open(
    state,
    {
      type: 'tool-call',
      id: context.names.callIds.client(text(block.id)),
      name: context.names.model(text(block.name)),
    },
    out,
  );
  state.calledTools = true;
  state.input = block.input;
};

const readText = (state: ReplyState, value: Json | undefined, out: ModelEvent[]): void => {
  const piece = text(value);
  if (piece === '') return;
  if (state.open !== 'text') reopen(state, { type: 'text' }, out);
  out.push({ type: 'text-delta', index: state.blocks - 1, text: piece });
};

const readThinking = (state: ReplyState, value: Json | undefined, out: ModelEvent[]): void => {
  const piece = text(value);
  if (piece === '') return;
  if (state.open !== 'thinking') reopen(state, { type: 'thinking' }, out);
  out.push({ type: 'thinking-delta', index: state.blocks - 1, text: piece });
};

/** Compatible servers switch between text and thinking without a new block. */
const reopen = (state: ReplyState, block: Block, out: ModelEvent[]): void => {
  if (!state.started) startMessage(state, {}, out);
  stopBlock(state, out);
  open(state, block, out);
};

const readInput = (state: ReplyState, json: string, out: ModelEvent[]): void => {
  if (state.open !== 'tool-call' || json === '') return;
  state.input = undefined;
  out.push({ type: 'input-delta', index: state.blocks - 1, json });
};

const readCitations = (state: ReplyState, citations: Json | undefined, out: ModelEvent[]): void => {
  if (state.open !== 'text' || !Array.isArray(citations)) return;
  for (const value of citations) {
    if (!isJsonObject(value)) continue;
    out.push({ type: 'citation-delta', index: state.blocks - 1, citation: decodeCitation(value) });
  }
};

const readUsage = (state: ReplyState, usage: Json | undefined): void => {
  state.usage = mergeUsage(state.usage, decodeUsage(usage));
  Object.assign(state.usageRest, otherUsage(usage));
};

const keepRest = (state: ReplyState, members: JsonObject): void => {
  for (const [name, value] of Object.entries(members)) {
    if (value !== null && !(Array.isArray(value) && value.length === 0)) state.rest[name] = value;
  }
};

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
