import type { ReplyContext } from '../../../engine/model/context.ts';
import type { BlockStart, MessageStop, ModelEvent } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import { machine } from '../../../engine/model/machine.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { packCallSignature } from '../call-signature.ts';
import { failure, wireError } from '../encode-fault.ts';
import { encodeFinish, type Outcome } from '../reply-end.ts';
import { calledTool } from '../tool-names.ts';
import { callIdOf, encodeSignature, type ItemStatus } from './output-item.ts';
import { responseEcho, responseHead } from './response-object.ts';
import { members, StreamWriter } from './stream-writer.ts';
import { HostedWriter } from './write-hosted-tools.ts';
import { ReasoningWriter, writeRedacted } from './write-reasoning.ts';
import { MessageWriter } from './write-text.ts';
import { CallWriter } from './write-tool-calls.ts';

interface State {
  readonly context: ReplyContext;
  readonly stream: StreamWriter;
  /** The request's members that each response object repeats. */
  readonly echo: string;
  id: string;
  model: string;
  started: boolean;
  /** The item added last. It ends when the next one starts or the reply ends, since its status is known only then. */
  item: MessageWriter | ReasoningWriter | CallWriter | HostedWriter | undefined;
  /** A block is open in `item`. */
  inBlock: boolean;
  refused: boolean;
}

/**
 * Encodes events as `response.…` events. A fault becomes an `error` event with a nested `error`, then
 * `response.failed`: client libraries raise on the former, coding agents act on the latter. Source: OpenAI API
 * reference, "Streaming events", and a recorded failure.
 */
export const encodeStream = machine<State, ModelEvent, SseRecord>({
  initial: (context) => ({
    context,
    stream: new StreamWriter(),
    echo: members(responseEcho(context)),
    id: '',
    model: '',
    started: false,
    item: undefined,
    inBlock: false,
    refused: false,
  }),
  step(state, event, out) {
    const { item } = state;
    switch (event.type) {
      case 'message-start':
        state.id = event.id;
        state.model = event.model;
        start(state, out);
        break;
      case 'block-start':
        startBlock(state, event, out);
        break;
      case 'text-delta':
        if (item instanceof MessageWriter) item.text(event.text, out);
        break;
      case 'thinking-delta':
        if (item instanceof ReasoningWriter) item.text(event.text, out);
        break;
      case 'signature-delta':
        if (item instanceof ReasoningWriter) item.sign(event.signature);
        break;
      case 'citation-delta':
        if (item instanceof MessageWriter) item.cite(event.citation, out);
        break;
      case 'input-delta':
        if (item instanceof CallWriter) item.input(event.json, out);
        break;
      case 'opaque-delta':
        if (item instanceof HostedWriter) item.event(event.raw, out);
        break;
      case 'block-stop':
        state.inBlock = false;
        if (item && !(item instanceof HostedWriter)) item.stopBlock(out);
        break;
      case 'message-stop':
        stop(state, event, out);
        break;
      case 'error':
        failWith(state, event.fault, out);
        break;
      default:
        event satisfies never;
    }
  },
  // Some clients reset their timeout only on events.
  progress(state, out) {
    if (state.started) writeResponse(state, 'response.in_progress', { status: 'in_progress' }, out);
  },
});

const start = (state: State, out: SseRecord[]): void => {
  state.started = true;
  const outcome: Outcome = { status: 'in_progress' };
  writeResponse(state, 'response.created', outcome, out);
  writeResponse(state, 'response.in_progress', outcome, out);
};

const writeResponse = (state: State, type: string, outcome: Outcome, out: SseRecord[]): void => {
  const head = members(responseHead(state.context, state, outcome));
  state.stream.event(out, type, `"response":{${head},"output":${state.stream.output},${state.echo}}`);
};

const startBlock = (state: State, { block }: BlockStart, out: SseRecord[]): void => {
  const { stream, context } = state;
  state.inBlock = true;
  if (block.type === 'text' || block.type === 'refusal') {
    if (block.type === 'refusal') state.refused = true;
    if (!(state.item instanceof MessageWriter)) {
      finishItem(state, 'completed', out);
      state.item = new MessageWriter(stream, context.id, context.losses);
    }
    state.item.startBlock(block.type);
    return;
  }
  finishItem(state, 'completed', out);
  switch (block.type) {
    case 'thinking':
      state.item = new ReasoningWriter(stream, context.id);
      break;
    case 'redacted-thinking':
      writeRedacted(stream, context.id, encodeSignature(block.signature), out);
      break;
    case 'tool-call': {
      // The signature's item takes its own index, before the call's.
      const callId = callIdOf(block.id, context.id, stream.nextIndex);
      if (block.signature) {
        writeRedacted(stream, context.id, packCallSignature({ callId, signature: block.signature }), out);
      }
      state.item = new CallWriter(stream, context.id, callId, calledTool(context.request, block.name), out);
      break;
    }
    case 'opaque':
      if (block.wire === 'responses') state.item = new HostedWriter(stream, block.raw, out);
      else context.losses.drop(`output.${block.raw.type ?? block.wire}`, 'a block specific to another protocol');
      break;
    default:
      block satisfies never;
  }
};

const finishItem = (state: State, status: ItemStatus, out: SseRecord[]): void => {
  const { item } = state;
  state.item = undefined;
  if (item instanceof MessageWriter || item instanceof CallWriter) item.finish(status, out);
  else item?.finish(out);
};

const stop = (state: State, { finish, usage }: MessageStop, out: SseRecord[]): void => {
  const outcome = encodeFinish(finish, state.refused, usage);
  if (finish === 'pause' || finish === 'compaction')
    state.context.losses.approximate('status', `completed for ${finish}`);
  finishItem(state, outcome.status === 'incomplete' ? 'incomplete' : 'completed', out);
  writeResponse(state, `response.${outcome.status}`, outcome, out);
};

/** An item whose block broke off is not done: a client must not act on half a call. */
const failWith = (state: State, fault: Fault, out: SseRecord[]): void => {
  if (!state.started) start(state, out);
  if (!state.inBlock) finishItem(state, 'completed', out);
  state.stream.event(out, 'error', members({ error: wireError(fault) }));
  writeResponse(state, 'response.failed', { status: 'failed', error: failure(fault) }, out);
};
