import { type ModelEvent, withIndex } from '../../engine/model/event.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { machine } from '../../engine/model/machine.ts';
import type { Signature } from '../../engine/model/reasoning/signature.ts';
import { exitName } from './exit-tool.ts';
import { ResponseText } from './response-text.ts';

interface State {
  /** The exit tool's name. */
  readonly exit: string;
  readonly losses: Losses;
  /** Blocks closed so far on the client's side. */
  blocks: number;
  /** The exit tool's call that is being read. */
  response: ResponseText | undefined;
  /** Its text block is open. */
  speaking: boolean;
  exited: boolean;
  /** Another tool was called. */
  called: boolean;
}

/** Converts exit tool calls to text blocks, opened by their first text. The client never sees the tool. */
export const encodeExit = machine<State, ModelEvent, ModelEvent>({
  initial: ({ request, losses }) => ({
    exit: exitName(request.tools),
    losses: losses.at('tooluse'),
    blocks: 0,
    response: undefined,
    speaking: false,
    exited: false,
    called: false,
  }),
  step(state, event, out) {
    switch (event.type) {
      case 'message-start':
        out.push(event);
        break;
      case 'block-start':
        if (event.block.type === 'tool-call' && event.block.name === state.exit) {
          openExit(state, event.block.signature);
        } else {
          state.called ||= event.block.type === 'tool-call';
          out.push(withIndex(event, state.blocks));
        }
        break;
      case 'message-stop':
        out.push(event.finish === 'tool-call' && state.exited && !state.called ? { ...event, finish: 'end' } : event);
        break;
      case 'error':
        if (state.response) speak(state, state.response.end(), out);
        out.push(event);
        break;
      default:
        if (!state.response) {
          out.push(withIndex(event, state.blocks));
          if (event.type === 'block-stop') state.blocks += 1;
        } else if (event.type === 'input-delta') speak(state, state.response.push(event.json), out);
        else if (event.type === 'block-stop') closeExit(state, state.response, out);
    }
  },
});

const openExit = (state: State, signature: Signature | undefined): void => {
  state.exited = true;
  state.response = new ResponseText();
  // The signature belongs to a call that the client doesn't get.
  if (signature) state.losses.drop('reply.signature');
};

const speak = (state: State, text: string, out: ModelEvent[]): void => {
  if (text === '') return;
  if (!state.speaking) {
    state.speaking = true;
    out.push({ type: 'block-start', index: state.blocks, block: { type: 'text' } });
  }
  out.push({ type: 'text-delta', index: state.blocks, text });
};

const closeExit = (state: State, response: ResponseText, out: ModelEvent[]): void => {
  speak(state, response.end(), out);
  if (state.speaking) {
    out.push({ type: 'block-stop', index: state.blocks });
    state.blocks += 1;
  }
  state.speaking = false;
  state.response = undefined;
};
