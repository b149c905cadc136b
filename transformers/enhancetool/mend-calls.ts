import type { BlockStart, FinishReason, ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { machine } from '../../engine/model/machine.ts';
import type { Tool } from '../../engine/model/request.ts';
import { isWhole, mendArguments } from './mend-arguments.ts';

interface State {
  readonly tools: readonly Tool[];
  readonly losses: Losses;
  /** The call whose arguments are coming. */
  open: HeldCall | undefined;
  /**
   * Calls that have ended but not gone out: the first one's arguments don't parse, and whether that is the model's fault or
   * the token limit's shows only in what follows.
   */
  readonly held: EndedCall[];
  calls: number;
}

interface HeldCall {
  readonly start: BlockStart;
  readonly tool: string;
  readonly pieces: string[];
}

interface EndedCall {
  readonly start: BlockStart;
  readonly tool: string;
  readonly json: string;
}

/**
 * Each tool call once, whole and with its arguments mended; all else as it comes. An answer that was cut off keeps the
 * arguments that don't parse as they came, so that a call which the model never finished can't pass for one.
 */
export const mendCalls = machine<State, ModelEvent, ModelEvent>({
  initial: ({ request, losses }) => ({
    tools: request.tools,
    losses: losses.at('enhancetool'),
    open: undefined,
    held: [],
    calls: 0,
  }),
  step(state, event, out) {
    switch (event.type) {
      case 'block-start':
        if (event.block.type === 'tool-call') {
          state.open = { start: event, tool: event.block.name, pieces: [] };
          return;
        }
        // The model went on after them, so they aren't cut.
        releaseAll(state, false, out);
        break;
      case 'input-delta':
        if (!state.open) break;
        state.open.pieces.push(event.json);
        return;
      case 'block-stop':
        if (!state.open) break;
        state.held.push({ start: state.open.start, tool: state.open.tool, json: state.open.pieces.join('') });
        state.open = undefined;
        releaseWhole(state, out);
        return;
      case 'message-stop':
        releaseAll(state, isCut(event.finish), out);
        break;
      case 'error':
        releaseAll(state, true, out);
        if (state.open) pushOpen(state.open.start, state.open.pieces.join(''), out);
        break;
      case 'message-start':
      case 'text-delta':
      case 'thinking-delta':
      case 'signature-delta':
      case 'citation-delta':
      case 'opaque-delta':
        break;
      default:
        event satisfies never;
    }
    out.push(event);
  },
});

/** Whether the answer ended where the model hadn't. */
const isCut = (finish: FinishReason): boolean =>
  finish === 'length' || finish === 'context-full' || finish === 'filtered' || finish === 'stop-sequence';

const releaseWhole = (state: State, out: ModelEvent[]): void => {
  while (state.held[0] && isWhole(state.held[0].json)) release(state, state.held[0], false, out);
};

const releaseAll = (state: State, cut: boolean, out: ModelEvent[]): void => {
  while (state.held[0]) release(state, state.held[0], cut, out);
};

const release = (state: State, { start, tool, json }: EndedCall, cut: boolean, out: ModelEvent[]): void => {
  const path = `reply.tool_calls[${state.calls}].arguments`;
  const { text, note } =
    cut && !isWhole(json) ? { text: json, note: 'cut off: as they came' } : mendArguments(json, schemaOf(state, tool));
  if (note !== undefined) state.losses.approximate(path, note);
  pushOpen(start, text, out);
  out.push({ type: 'block-stop', index: start.index });
  state.calls += 1;
  state.held.shift();
};

const pushOpen = (start: BlockStart, json: string, out: ModelEvent[]): void => {
  out.push(start);
  if (json !== '') out.push({ type: 'input-delta', index: start.index, json });
};

/** What a custom tool's free text comes in. */
const customInput: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
};

const schemaOf = ({ tools }: State, name: string): JsonObject | undefined => {
  const tool = tools.find((one) => (one.type === 'function' || one.type === 'custom') && one.name === name);
  return tool?.type === 'function' ? tool.parameters : tool?.type === 'custom' ? customInput : undefined;
};
