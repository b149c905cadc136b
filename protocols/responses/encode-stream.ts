import type { BlockStart, MessageStop, ModelEvent } from '../../engine/model/event.ts';
import type { Fault } from '../../engine/model/fault.ts';
import { machine } from '../../engine/model/machine.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { packCallSignature } from './call-signature.ts';
import { CallWriter } from './call-writer.ts';
import { calledTool } from './called-tool.ts';
import { failure } from './faults.ts';
import { HostedWriter } from './hosted-writer.ts';
import { MessageWriter } from './message-writer.ts';
import { callIdOf, type ItemStatus, sealOf } from './output-item.ts';
import { ReasoningWriter, writeSeal } from './reasoning-writer.ts';
import { type Outcome, outcomeOf, responseEcho, responseHead } from './response-object.ts';
import { members, StreamWriter } from './stream-writer.ts';

interface State {
  readonly context: ReplyContext;
  readonly stream: StreamWriter;
  /** What each response object repeats of the request. */
  readonly echo: string;
  id: string;
  model: string;
  started: boolean;
  /** The item that was added last. It is done only when the next begins or the answer ends: then its status is known. */
  item: MessageWriter | ReasoningWriter | CallWriter | HostedWriter | undefined;
  /** A block is open in `item`. */
  inBlock: boolean;
  refused: boolean;
}

/**
 * Events → the `response.…` event family. An answer that ends in an `error` event is told by `response.failed` alone: a
 * separate `error` event makes client libraries drop all that came before. Source: OpenAI API reference, "Streaming events".
 */
export const encodeStream = machine<State, ModelEvent, string>({
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
        if (item instanceof ReasoningWriter) item.seal(event.signature);
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
});

const start = (state: State, out: string[]): void => {
  state.started = true;
  const outcome: Outcome = { status: 'in_progress' };
  writeResponse(state, 'response.created', outcome, out);
  writeResponse(state, 'response.in_progress', outcome, out);
};

const writeResponse = (state: State, type: string, outcome: Outcome, out: string[]): void => {
  const head = members(responseHead(state.context, state, outcome));
  state.stream.event(out, type, `"response":{${head},"output":${state.stream.output},${state.echo}}`);
};

const startBlock = (state: State, { block }: BlockStart, out: string[]): void => {
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
      writeSeal(stream, context.id, sealOf(block.signature), out);
      break;
    case 'tool-call': {
      // The seal takes an index of its own, ahead of the call's.
      const callId = callIdOf(block.id, context.id, stream.nextIndex);
      if (block.signature) {
        writeSeal(stream, context.id, packCallSignature({ callId, signature: block.signature }), out);
      }
      state.item = new CallWriter(stream, context.id, callId, calledTool(context.request.tools, block.name), out);
      break;
    }
    case 'opaque':
      if (block.wire === 'responses') state.item = new HostedWriter(stream, block.raw, out);
      else context.losses.drop(`output.${block.raw.type ?? block.wire}`, 'a block that only another protocol knows');
      break;
    default:
      block satisfies never;
  }
};

const finishItem = (state: State, status: ItemStatus, out: string[]): void => {
  const { item } = state;
  state.item = undefined;
  if (item instanceof MessageWriter || item instanceof CallWriter) item.finish(status, out);
  else item?.finish(out);
};

const stop = (state: State, { finish, usage }: MessageStop, out: string[]): void => {
  const outcome = outcomeOf(finish, state.refused, usage);
  if (finish === 'pause' || finish === 'compaction')
    state.context.losses.approximate('status', `completed for ${finish}`);
  finishItem(state, outcome.status === 'incomplete' ? 'incomplete' : 'completed', out);
  writeResponse(state, `response.${outcome.status}`, outcome, out);
};

/** An item whose block broke off is not done: a client must not act on half a call. */
const failWith = (state: State, fault: Fault, out: string[]): void => {
  if (!state.started) start(state, out);
  if (!state.inBlock) finishItem(state, 'completed', out);
  writeResponse(state, 'response.failed', { status: 'failed', error: failure(fault) }, out);
};
