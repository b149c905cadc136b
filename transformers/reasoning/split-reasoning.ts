import { atIndex } from '../../engine/model/at-index.ts';
import type { Block, BlockStart, CitationDelta, ModelEvent } from '../../engine/model/event.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { type Machine, machine } from '../../engine/model/machine.ts';
import type { Citation } from '../../engine/model/request.ts';
import { TaggedText } from './tagged-text.ts';

/** How an answer's reasoning is to be treated. */
export interface SplitOptions {
  /** The tag around reasoning inside text; absent: text is text. */
  readonly tag: string | undefined;
  /** `false`: reasoning is taken out. */
  readonly shows: boolean;
}

interface State {
  readonly losses: Losses;
  /** Blocks closed so far on the client's side. */
  blocks: number;
  /** The block that is open on the client's side. */
  open: Block['type'] | undefined;
  /** The upstream's block is reasoning that the client doesn't get. */
  hiding: boolean;
  /** The upstream's block is text that may hold tags. */
  tagged: TaggedText | undefined;
  /** Where the tagged text's parts go while a step runs. */
  out: ModelEvent[];
  /** UTF-16 units of the upstream's text that didn't stay text. */
  taken: number;
}

/** Text with tags → thinking and text blocks; or thinking, tagged or not, → nothing. */
export const splitReasoning = ({ tag, shows }: SplitOptions): Machine<ModelEvent, ModelEvent> =>
  machine<State, ModelEvent, ModelEvent>({
    initial: ({ losses }) => ({
      losses: losses.at('reasoning'),
      blocks: 0,
      open: undefined,
      hiding: false,
      tagged: undefined,
      out: [],
      taken: 0,
    }),
    step(state, event, out) {
      state.out = out;
      switch (event.type) {
        case 'message-start':
        case 'message-stop':
          out.push(event);
          break;
        case 'error':
          state.tagged?.end();
          out.push(event);
          break;
        case 'block-start':
          if (tag !== undefined && event.block.type === 'text') state.tagged = taggedText(state, tag, shows);
          else if (!shows && isReasoning(event)) state.hiding = true;
          else open(state, event.block);
          break;
        case 'block-stop':
          state.tagged?.end();
          close(state);
          state.tagged = undefined;
          state.hiding = false;
          break;
        case 'text-delta':
          if (state.tagged) {
            state.taken += event.text.length;
            state.tagged.push(event.text);
          } else out.push(atIndex(event, state.blocks));
          break;
        case 'citation-delta':
          cite(state, event);
          break;
        default:
          if (!state.hiding) out.push(atIndex(event, state.blocks));
      }
    },
  });

const isReasoning = ({ block }: BlockStart): boolean => block.type === 'thinking' || block.type === 'redacted-thinking';

const open = (state: State, block: Block): void => {
  state.open = block.type;
  state.out.push({ type: 'block-start', index: state.blocks, block });
};

const close = (state: State): void => {
  if (state.open === undefined) return;
  // Reasoning out of a tag has no payload; it is marked as any that comes without one on this wire.
  if (state.open === 'thinking' && state.tagged) {
    state.out.push({ type: 'signature-delta', index: state.blocks, signature: { format: 'chat', data: '' } });
  }
  state.out.push({ type: 'block-stop', index: state.blocks });
  state.open = undefined;
  state.blocks += 1;
};

/** Opens a block of this type where it isn't the open one. */
const turnTo = (state: State, type: 'text' | 'thinking'): void => {
  if (state.open === type) return;
  close(state);
  open(state, { type });
};

const taggedText = (state: State, tag: string, shows: boolean): TaggedText =>
  new TaggedText(tag, {
    thinking(text) {
      if (!shows) return;
      turnTo(state, 'thinking');
      state.out.push({ type: 'thinking-delta', index: state.blocks, text });
    },
    thought() {
      if (shows) close(state);
    },
    text(text) {
      state.taken -= text.length;
      turnTo(state, 'text');
      state.out.push({ type: 'text-delta', index: state.blocks, text });
    },
  });

/** A source of text; reasoning can't have any. Its place moves with the text. */
const cite = (state: State, { citation }: CitationDelta): void => {
  if (state.tagged?.inside) {
    state.losses.drop('reply.annotations', 'a source of reasoning');
    return;
  }
  // What a source is given for is the answer: no tag follows any more.
  state.tagged?.end();
  state.tagged = undefined;
  turnTo(state, 'text');
  state.out.push({ type: 'citation-delta', index: state.blocks, citation: moved(citation, state.taken) });
};

const moved = (citation: Citation, by: number): Citation =>
  citation.type !== 'url' || by === 0
    ? citation
    : {
        ...citation,
        start: citation.start === undefined ? undefined : Math.max(0, citation.start - by),
        end: citation.end === undefined ? undefined : Math.max(0, citation.end - by),
      };
