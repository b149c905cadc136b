import type { ReplyContext } from '../../../engine/model/context.ts';
import {
  type Block,
  type MessageStart,
  type MessageStop,
  type ModelEvent,
  mergeUsage,
  type Usage,
} from '../../../engine/model/event.ts';
import { type JsonObject, writeJson } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import { cutOff } from '../../../engine/model/reply.ts';
import type { Citation } from '../../../engine/model/request.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { encodeCitation } from '../citations.ts';
import { errorEvent } from '../encode-fault.ts';
import { encodeEnd, encodeUsage, wireMessageId } from '../reply-end.ts';
import { recordSignatureLoss, wholeInput, wireCallId, wireSignature } from './encode-reply.ts';

interface State {
  readonly context: ReplyContext;
  /** Wire index of the open block, or of the next one. */
  index: number;
  /** The block that is open in the events; `undefined` for none, and for one that can't be encoded. */
  block: Block | undefined;
  /** The open block's start was sent; text and thinking start with their first content. */
  begun: boolean;
  /** Citations of a text block that hasn't started. */
  readonly citations: JsonObject[];
  signature: Signature | undefined;
  refused: boolean;
  usage: Usage;
  done: boolean;
}

/** Encodes events as a streamed reply. Source: Anthropic API reference, "Streaming Messages". */
export const encodeStream = machine<State, ModelEvent, SseRecord>({
  initial: (context) => ({
    context,
    index: 0,
    block: undefined,
    begun: false,
    citations: [],
    signature: undefined,
    refused: false,
    usage: {},
    done: false,
  }),
  step(state, event, out) {
    if (state.done) return;
    switch (event.type) {
      case 'message-start':
        startMessage(state, event, out);
        return;
      case 'block-start':
        startBlock(state, event.block, out);
        return;
      case 'text-delta':
        writeText(state, event.text, out);
        return;
      case 'thinking-delta':
        writeThinking(state, event.text, out);
        return;
      case 'signature-delta':
        state.signature = event.signature;
        return;
      case 'citation-delta':
        writeCitation(state, event.citation, out);
        return;
      case 'input-delta':
        writeInput(state, event.json, out);
        return;
      case 'opaque-delta':
        if (state.block?.type === 'opaque') out.push(delta(state.index, event.raw));
        return;
      case 'block-stop':
        stopBlock(state, out);
        return;
      case 'message-stop':
        stopMessage(state, event, out);
        return;
      case 'error':
        state.done = true;
        out.push(errorEvent(event.fault));
        return;
      default:
        return event satisfies never;
    }
  },
  end(state, out) {
    if (!state.done) out.push(errorEvent(cutOff));
  },
});

const startMessage = (state: State, { id, model, usage }: MessageStart, out: SseRecord[]): void => {
  const { context } = state;
  state.usage = usage ?? {};
  const message = {
    id: wireMessageId(id, context),
    type: 'message',
    role: 'assistant',
    model: model || context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: encodeUsage(state.usage, context.inputEstimate),
  };
  out.push(record('message_start', { type: 'message_start', message }));
};

const startBlock = (state: State, block: Block, out: SseRecord[]): void => {
  state.block = block;
  switch (block.type) {
    case 'text':
    case 'thinking':
      return;
    case 'refusal':
      state.refused = true;
      return;
    case 'redacted-thinking':
      begin(state, { type: 'redacted_thinking', data: wireSignature(block.signature) }, out);
      return;
    case 'tool-call': {
      const id = wireCallId(block.id, state.index, state.context);
      recordSignatureLoss(block.signature, state.index, state.context.losses);
      begin(state, { type: 'tool_use', id, name: block.name, input: {} }, out);
      return;
    }
    case 'opaque':
      if (block.wire === 'messages') beginOpaque(state, block.raw, out);
      else skipBlock(state);
      return;
    default:
      block satisfies never;
  }
};

/** Skips a block of another format; later blocks take its index. */
const skipBlock = (state: State): void => {
  state.context.losses.drop(`content[${state.index}]`, 'a block of another wire format');
  state.block = undefined;
};

const beginOpaque = (state: State, raw: JsonObject, out: SseRecord[]): void => {
  const input = wholeInput(raw);
  begin(state, input ? { ...raw, input: {} } : raw, out);
  if (input) writeInputText(state.index, writeJson(input), out);
};

const begin = (state: State, block: JsonObject, out: SseRecord[]): void => {
  state.begun = true;
  const { index } = state;
  out.push(record('content_block_start', { type: 'content_block_start', index, content_block: block }));
};

const writeText = (state: State, text: string, out: SseRecord[]): void => {
  if (!state.begun) beginText(state, out);
  out.push({
    event: 'content_block_delta',
    data: `{"type":"content_block_delta","index":${state.index},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}`,
  });
};

const beginText = (state: State, out: SseRecord[]): void => {
  const cited = state.citations.length > 0;
  begin(state, cited ? { type: 'text', text: '', citations: [] } : { type: 'text', text: '' }, out);
  for (const citation of state.citations) out.push(delta(state.index, { type: 'citations_delta', citation }));
  state.citations.length = 0;
};

const writeThinking = (state: State, text: string, out: SseRecord[]): void => {
  if (!state.begun) begin(state, { type: 'thinking', thinking: '', signature: '' }, out);
  out.push({
    event: 'content_block_delta',
    data: `{"type":"content_block_delta","index":${state.index},"delta":{"type":"thinking_delta","thinking":${JSON.stringify(text)}}}`,
  });
};

const writeCitation = (state: State, citation: Citation, out: SseRecord[]): void => {
  const value = encodeCitation(citation, `content[${state.index}]`, state.context.losses);
  if (!value) return;
  if (state.begun) out.push(delta(state.index, { type: 'citations_delta', citation: value }));
  else state.citations.push(value);
};

const writeInput = (state: State, json: string, out: SseRecord[]): void => {
  if (state.begun) writeInputText(state.index, json, out);
};

const writeInputText = (index: number, json: string, out: SseRecord[]): void => {
  out.push({
    event: 'content_block_delta',
    data: `{"type":"content_block_delta","index":${index},"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}}`,
  });
};

const stopBlock = (state: State, out: SseRecord[]): void => {
  if (state.block?.type === 'thinking') endThinking(state, out);
  if (state.citations.length > 0) {
    state.context.losses.drop(`content[${state.index}].citations`, 'of an empty text');
    state.citations.length = 0;
  }
  if (state.begun) {
    out.push({ event: 'content_block_stop', data: `{"type":"content_block_stop","index":${state.index}}` });
    state.index += 1;
  }
  state.block = undefined;
  state.begun = false;
  state.signature = undefined;
};

/** Hidden thinking may still have a signature; without text and signature there is no block. */
const endThinking = (state: State, out: SseRecord[]): void => {
  if (!state.begun && !state.signature) return;
  if (!state.begun) begin(state, { type: 'thinking', thinking: '', signature: '' }, out);
  out.push(delta(state.index, { type: 'signature_delta', signature: wireSignature(state.signature) }));
};

const stopMessage = (state: State, event: MessageStop, out: SseRecord[]): void => {
  state.done = true;
  const end = encodeEnd(event, mergeUsage(state.usage, event.usage), state.refused, state.context);
  out.push(record('message_delta', { type: 'message_delta', delta: end.delta, usage: end.usage, ...end.beside }), {
    event: 'message_stop',
    data: '{"type":"message_stop"}',
  });
};

const delta = (index: number, raw: JsonObject): SseRecord =>
  record('content_block_delta', { type: 'content_block_delta', index, delta: raw });

const record = (event: string, data: JsonObject): SseRecord => ({ event, data: writeJson(data) });
