import type { ReplyContext } from '../../../engine/model/context.ts';
import {
  type Block,
  type MessageStop,
  type ModelEvent,
  mergeUsage,
  replyTier,
  type Usage,
} from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { encodeCitation } from '../citations.ts';
import { readsFunctionCalls } from '../decode-request/decode-request.ts';
import { faultRecord } from '../encode-fault.ts';
import { membersOfSignature, redactedEntry, thinkingEntry } from '../reasoning-details.ts';
import { encodeFinish, encodeUsage, finishIsLost, terminal } from '../reply-end.ts';
import { replyHead } from './encode-reply.ts';

interface State {
  readonly context: ReplyContext;
  /** A chunk up to its choices, one up to its delta, and the text after the delta. */
  head: string;
  before: string;
  after: string;
  /** Whether the client requested a final usage chunk; all other chunks then carry `"usage":null`. */
  readonly counts: boolean;
  usage: Usage;
  /** The open block's type; `undefined` between blocks. */
  open: Block['type'] | undefined;
  /** The client reads calls in the older format, which allows one call. */
  readonly legacy: boolean;
  /** Calls started so far; this format numbers calls, not blocks. */
  calls: number;
  /** Arguments of the open call have started. */
  hasArguments: boolean;
  refused: boolean;
  /** Text so far, in UTF-16 units, and the start of the open block. */
  textLength: number;
  textStart: number;
  /** As above, for reasoning text. */
  thinkingLength: number;
  thinkingStart: number;
  /** The open block's reasoning, in pieces. */
  thoughts: string[];
  /** Entries of `reasoning_details` so far. */
  details: number;
}

/**
 * Encodes events as `chat.completion.chunk` records. Signatures go into `reasoning_details`, so that clients return
 * them with the history. Source: OpenAI API reference, "Chat streaming".
 */
export const encodeStream = machine<State, ModelEvent, SseRecord>({
  initial: (context) => ({
    context,
    head: '',
    before: '',
    after: '',
    counts: context.request.streamUsage === true,
    usage: {},
    open: undefined,
    legacy: readsFunctionCalls(context.clientBody),
    calls: 0,
    hasArguments: false,
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
        push(
          out,
          `${state.before}{"${state.open === 'refusal' ? 'refusal' : 'content'}":${JSON.stringify(event.text)}}${state.after}`,
        );
        return;
      case 'thinking-delta':
        state.thinkingLength += event.text.length;
        state.thoughts.push(event.text);
        push(out, `${state.before}{"reasoning_content":${JSON.stringify(event.text)}}${state.after}`);
        return;
      case 'input-delta':
        writeInput(state, event.json, out);
        return;
      case 'signature-delta':
        writeSignature(state, event.signature, out);
        return;
      case 'citation-delta': {
        const annotation = encodeCitation(event.citation, state.textStart, state.textLength);
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

const writeDelta = (state: State, delta: JsonObject, out: SseRecord[]): void => {
  push(out, `${state.before}${JSON.stringify(delta)}${state.after}`);
};

/** Records of this format have no name. */
const push = (out: SseRecord[], data: string): void => {
  out.push({ event: '', data });
};

const begin = (state: State, event: Extract<ModelEvent, { type: 'message-start' }>, out: SseRecord[]): void => {
  const { id, created, model } = replyHead(event.id, event.model, state.context);
  state.usage = event.usage ?? {};
  state.head =
    `{"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
    `"model":${JSON.stringify(model)},`;
  state.before = `${state.head}"choices":[{"index":0,"delta":`;
  state.after = `,"logprobs":null,"finish_reason":null}]${state.counts ? ',"usage":null' : ''}}`;
  writeDelta(state, { role: 'assistant', content: '' }, out);
};

const startBlock = (state: State, block: Block, out: SseRecord[]): void => {
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

const startCall = (state: State, block: Extract<Block, { type: 'tool-call' }>, out: SseRecord[]): void => {
  const { id, name, signature } = block;
  const members = membersOfSignature(signature);
  if (signature && signature.data !== '' && !members) {
    writeEntry(state, redactedEntry(signature, state.details, id), out);
  }
  state.hasArguments = false;
  const call = { index: state.calls, id, type: 'function', function: { name, arguments: '' }, ...members };
  state.calls += 1;
  if (!state.legacy) writeDelta(state, { tool_calls: [call] }, out);
  else if (state.calls === 1) writeDelta(state, { function_call: call.function }, out);
  else state.context.losses.drop('reply.tool_calls', 'all but the first');
};

const writeInput = (state: State, json: string, out: SseRecord[]): void => {
  // A hosted tool's input belongs to its opaque block.
  if (state.open !== 'tool-call') return;
  state.hasArguments = true;
  if (state.legacy) {
    if (state.calls === 1) writeDelta(state, { function_call: { arguments: json } }, out);
    return;
  }
  push(
    out,
    `${state.before}{"tool_calls":[{"index":${state.calls - 1},"function":{"arguments":${JSON.stringify(json)}}}]}${state.after}`,
  );
};

const stopBlock = (state: State, out: SseRecord[]): void => {
  if (state.open === 'tool-call' && !state.hasArguments) writeInput(state, '{}', out);
  state.open = undefined;
};

const writeSignature = (state: State, signature: Signature, out: SseRecord[]): void => {
  // The text was sent already; its range separates blocks when the history comes back.
  const entry = thinkingEntry(signature, state.thoughts.join(''), '', state.details);
  if (entry) writeEntry(state, { ...entry, text_range: [state.thinkingStart, state.thinkingLength] }, out);
};

const writeEntry = (state: State, entry: JsonObject, out: SseRecord[]): void => {
  state.details += 1;
  writeDelta(state, { reasoning_details: [entry] }, out);
};

const finish = (state: State, event: MessageStop, out: SseRecord[]): void => {
  const { context } = state;
  const usage = mergeUsage(state.usage, event.usage);
  const counts = state.counts ? encodeUsage(usage) : undefined;
  if (finishIsLost(event.finish)) context.losses.approximate('reply.finish_reason', `stop for ${event.finish}`);
  for (const name of Object.keys(event.extra?.fields ?? {})) context.losses.drop(`reply.${name}`);
  const word = replyTier('chat', usage.serviceTier);
  const tier = word === undefined ? '' : `"service_tier":"${word}",`;
  const reason = encodeFinish(event.finish, state.refused, state.legacy);
  const choice = `{"index":0,"delta":{},"logprobs":null,"finish_reason":"${reason}"}`;
  push(out, `${state.head}${tier}"choices":[${choice}]${state.counts ? ',"usage":null' : ''}}`);
  if (counts) push(out, `${state.head}"choices":[],"usage":${JSON.stringify(counts)}}`);
  out.push(terminal);
};
