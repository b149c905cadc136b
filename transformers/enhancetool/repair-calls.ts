import type { BlockStart, FinishReason, ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { machine } from '../../engine/model/machine.ts';
import type { Tool } from '../../engine/model/request.ts';
import { toolsByName } from '../../engine/model/wire/tool-names.ts';
import { isWhole, repairArguments } from './repair-arguments.ts';
import { SchemaCheck } from './schema-check.ts';
import { maxWork, Work } from './work.ts';

interface State {
  readonly tools: readonly Tool[];
  readonly losses: Losses;
  /** The call whose arguments are being read. */
  open: OpenCall | undefined;
  /**
   * Complete calls that are held back: the first one's arguments don't parse, and only what follows shows whether the
   * model or the token limit is the cause.
   */
  readonly waiting: EndedCall[];
  /** Calls sent so far. */
  calls: number;
  /** The remaining budget for this reply's repairs. */
  readonly work: Work;
  readonly checks: Map<string, SchemaCheck>;
}

interface OpenCall {
  readonly start: BlockStart;
  readonly tool: string;
  readonly pieces: string[];
}

interface EndedCall {
  readonly start: BlockStart;
  readonly tool: string;
  readonly json: string;
  readonly whole: boolean;
}

/**
 * Writes each tool call whole, with repaired arguments; other events pass unchanged. A cut-off reply keeps invalid
 * arguments, so that an unfinished call isn't completed.
 */
export const repairCalls = machine<State, ModelEvent, ModelEvent>({
  initial: ({ request, losses }) => ({
    tools: request.tools,
    losses: losses.at('enhancetool'),
    open: undefined,
    waiting: [],
    calls: 0,
    work: new Work(maxWork),
    checks: new Map(),
  }),
  step(state, event, out) {
    switch (event.type) {
      case 'block-start':
        if (event.block.type === 'tool-call') {
          state.open = { start: event, tool: event.block.name, pieces: [] };
          return;
        }
        // The model continued after them, so they aren't cut off.
        releaseAll(state, false, out);
        break;
      case 'input-delta':
        if (!state.open) break;
        state.open.pieces.push(event.json);
        return;
      case 'block-stop':
        if (!state.open) break;
        end(state, state.open, out);
        state.open = undefined;
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

/** Whether the reply was cut off. */
const isCut = (finish: FinishReason): boolean =>
  finish === 'length' || finish === 'context-full' || finish === 'filtered' || finish === 'stop-sequence';

const end = (state: State, { start, tool, pieces }: OpenCall, out: ModelEvent[]): void => {
  const json = pieces.join('');
  const call = { start, tool, json, whole: isWhole(json) };
  if (call.whole && state.waiting.length === 0) release(state, call, false, out);
  else state.waiting.push(call);
};

const releaseAll = (state: State, cut: boolean, out: ModelEvent[]): void => {
  for (const call of state.waiting) release(state, call, cut, out);
  state.waiting.length = 0;
};

const release = (state: State, { start, tool, json, whole }: EndedCall, cut: boolean, out: ModelEvent[]): void => {
  const path = `reply.tool_calls[${state.calls}].arguments`;
  const { text, note } =
    cut && !whole
      ? { text: json, note: 'cut off: left unchanged' }
      : repairArguments(json, checkOf(state, tool), state.work);
  if (note !== undefined) state.losses.approximate(path, note);
  pushOpen(start, text, out);
  out.push({ type: 'block-stop', index: start.index });
  state.calls += 1;
};

const pushOpen = (start: BlockStart, json: string, out: ModelEvent[]): void => {
  out.push(start);
  if (json !== '') out.push({ type: 'input-delta', index: start.index, json });
};

/** The schema of a custom tool's text. */
const customInput: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
};

/** Built once per called tool: schemas may be long, and calls many. */
const checkOf = ({ tools, checks, work }: State, name: string): SchemaCheck => {
  const known = checks.get(name);
  if (known) return known;
  const tool = toolsByName(tools).get(name);
  const schema = tool?.type === 'function' ? tool.parameters : tool?.type === 'custom' ? customInput : undefined;
  const check = new SchemaCheck({ type: 'object', ...schema }, work);
  // Unknown tool names would grow the cache without bound.
  if (tool) checks.set(name, check);
  return check;
};
