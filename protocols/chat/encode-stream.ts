import type { Block, MessageStop, ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import { machine } from '../../engine/model/machine.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { Signature } from '../../engine/model/signature.ts';
import { mergeUsage, type Usage } from '../../engine/model/usage.ts';
import { encodeAnnotation } from './annotation.ts';
import { encodeUsage } from './encode-usage.ts';
import { faultRecord } from './faults.ts';
import { encodeFinish, finishIsLost } from './finish.ts';
import { redactedEntry, thinkingEntry } from './reasoning-details.ts';
import { replyHead } from './reply-head.ts';

interface State {
  readonly context: ReplyContext;
  /** A chunk up to its choices, one up to its delta, and what follows the delta. */
  head: string;
  before: string;
  after: string;
  /** Whether the client asked for a last chunk with the usage; the others then say that they have none. */
  readonly counts: boolean;
  usage: Usage;
  /** What the open block holds; `undefined` between blocks. */
  open: Block['type'] | undefined;
  /** Calls begun so far; the wire numbers calls, not blocks. */
  calls: number;
  /** The open call's arguments have begun. */
  argued: boolean;
  refused: boolean;
  /** UTF-16 units of text so far, and where the open block began. */
  textLength: number;
  textStart: number;
  /** The same for the reasoning's text. */
  thinkingLength: number;
  thinkingStart: number;
  /** The open block's reasoning, piece by piece. */
  thoughts: string[];
  /** Entries of `reasoning_details` so far. */
  details: number;
}

/**
 * Events → `chat.completion.chunk` records. A payload of reasoning goes out in `reasoning_details`, so that it comes back in a
 * history sent whole. Source: OpenAI API reference, "Chat streaming".
 */
export const encodeStream = machine<State, ModelEvent, string>({
  initial: (context) => ({
    context,
    head: '',
    before: '',
    after: '',
    counts: context.request.streamUsage === true,
    usage: {},
    open: undefined,
    calls: 0,
    argued: false,
    refused: false,
    textLength: 0,
    textStart: 0,
    thinkingLength: 0,
    thinkingStart: 0,
    thoughts: [],
    details: 0,
  }),
  step(state, event, out) {
    switch (event.type) {
      case 'message-start':
        begin(state, event, out);
        return;
      case 'block-start':
        startBlock(state, event.block, out);
        return;
      case 'text-delta':
        state.textLength += event.text.length;
        out.push(
          `${state.before}{"${state.open === 'refusal' ? 'refusal' : 'content'}":${JSON.stringify(event.text)}}${state.after}`,
        );
        return;
      case 'thinking-delta':
        state.thinkingLength += event.text.length;
        state.thoughts.push(event.text);
        out.push(`${state.before}{"reasoning_content":${JSON.stringify(event.text)}}${state.after}`);
        return;
      case 'input-delta':
        writeInput(state, event.json, out);
        return;
      case 'signature-delta':
        writeSignature(state, event.signature, out);
        return;
      case 'citation-delta': {
        const annotation = encodeAnnotation(event.citation, state.textStart, state.textLength);
        if (annotation) writeDelta(state, { annotations: [annotation] }, out);
        else state.context.losses.drop('reply.citations');
        return;
      }
      case 'opaque-delta':
        return;
      case 'block-stop':
        stopBlock(state, out);
        return;
      case 'message-stop':
        finish(state, event, out);
        return;
      case 'error':
        out.push(faultRecord(event.fault));
        return;
      default:
        event satisfies never;
    }
  },
});

const writeDelta = (state: State, delta: JsonObject, out: string[]): void => {
  out.push(`${state.before}${JSON.stringify(delta)}${state.after}`);
};

const begin = (state: State, event: Extract<ModelEvent, { type: 'message-start' }>, out: string[]): void => {
  const { id, created, model } = replyHead(event.id, event.model, state.context);
  state.usage = event.usage ?? {};
  state.head =
    `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
    `"model":${JSON.stringify(model)},`;
  state.before = `${state.head}"choices":[{"index":0,"delta":`;
  state.after = `,"logprobs":null,"finish_reason":null}]${state.counts ? ',"usage":null' : ''}}\n\n`;
  writeDelta(state, { role: 'assistant', content: '' }, out);
};

const startBlock = (state: State, block: Block, out: string[]): void => {
  state.open = block.type;
  switch (block.type) {
    case 'text':
      state.textStart = state.textLength;
      return;
    case 'refusal':
      state.refused = true;
      return;
    case 'thinking':
      state.thinkingStart = state.thinkingLength;
      state.thoughts = [];
      return;
    case 'redacted-thinking':
      writeEntry(state, redactedEntry(block.signature, state.details), out);
      return;
    case 'tool-call':
      startCall(state, block, out);
      return;
    case 'opaque':
      state.context.losses.drop(`reply.${typeof block.raw.type === 'string' ? block.raw.type : 'block'}`);
      return;
    default:
      block satisfies never;
  }
};

const startCall = (state: State, block: Extract<Block, { type: 'tool-call' }>, out: string[]): void => {
  const { id, name, signature } = block;
  if (signature && signature.data !== '') writeEntry(state, redactedEntry(signature, state.details, id), out);
  state.argued = false;
  const call = { index: state.calls, id, type: 'function', function: { name, arguments: '' } };
  state.calls += 1;
  writeDelta(state, { tool_calls: [call] }, out);
};

const writeInput = (state: State, json: string, out: string[]): void => {
  // A hosted tool's input belongs to its opaque block.
  if (state.open !== 'tool-call') return;
  state.argued = true;
  out.push(
    `${state.before}{"tool_calls":[{"index":${state.calls - 1},"function":{"arguments":${JSON.stringify(json)}}}]}${state.after}`,
  );
};

const stopBlock = (state: State, out: string[]): void => {
  if (state.open === 'tool-call' && !state.argued) writeInput(state, '{}', out);
  state.open = undefined;
};

const writeSignature = (state: State, signature: Signature, out: string[]): void => {
  // The text went out already; where it lies tells several blocks apart when they come back.
  const entry = thinkingEntry(signature, state.thoughts.join(''), '', state.details);
  if (entry) writeEntry(state, { ...entry, text_range: [state.thinkingStart, state.thinkingLength] }, out);
};

const writeEntry = (state: State, entry: JsonObject, out: string[]): void => {
  state.details += 1;
  writeDelta(state, { reasoning_details: [entry] }, out);
};

const finish = (state: State, event: MessageStop, out: string[]): void => {
  const { context } = state;
  const usage = mergeUsage(state.usage, event.usage);
  const counts = state.counts ? encodeUsage(usage) : undefined;
  if (finishIsLost(event.finish)) context.losses.approximate('reply.finish_reason', `stop for ${event.finish}`);
  for (const name of Object.keys(event.extra?.fields ?? {})) context.losses.drop(`reply.${name}`);
  const tier = usage.serviceTier === undefined ? '' : `"service_tier":${JSON.stringify(usage.serviceTier)},`;
  const word = encodeFinish(event.finish, state.refused);
  const choice = `{"index":0,"delta":{},"logprobs":null,"finish_reason":"${word}"}`;
  out.push(`${state.head}${tier}"choices":[${choice}]${state.counts ? ',"usage":null' : ''}}\n\n`);
  if (counts) out.push(`${state.head}"choices":[],"usage":${JSON.stringify(counts)}}\n\n`);
  out.push('data: [DONE]\n\n');
};
