import type { ReplyContext } from '../context.ts';
import { type Block, type BlockStart, type CitationDelta, type ModelEvent, withIndex } from '../event.ts';
import { startOf } from '../json/long-texts.ts';
import type { Losses } from '../loss.ts';
import { type Machine, machine } from '../machine.ts';
import type { Citation } from '../request.ts';
import { TaggedText } from './tagged-text.ts';

/** The treatment of an answer's reasoning. */
interface SplitOptions {
  /** The tags that may be around reasoning in text; none: text is not searched. */
  readonly tags: readonly string[];
  /** `false`: reasoning is removed. */
  readonly shows: boolean;
}

interface State {
  readonly context: ReplyContext;
  readonly losses: Losses;
  /** Number of closed output blocks. */
  blocks: number;
  /** The type of the open output block. */
  open: Block['type'] | undefined;
  /** The current input block is reasoning that is removed. */
  hiding: boolean;
  /** Set while the current input block is text that may contain tags. */
  tagged: TaggedText | undefined;
  /** The output of the current step, for the tagged text's callbacks. */
  out: ModelEvent[];
  /** UTF-16 units of input text that didn't become output text. */
  taken: number;
}

/** Splits tagged text into thinking and text blocks, or removes all thinking. */
export const splitReasoning = ({ tags, shows }: SplitOptions): Machine<ModelEvent, ModelEvent> =>
  machine<State, ModelEvent, ModelEvent>({
    initial: (context) => ({
      context,
      losses: context.losses.at('reasoning'),
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
          if (tags.length > 0 && event.block.type === 'text') state.tagged = taggedText(state, tags, shows);
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
            const { longTexts } = state.context;
            state.tagged.push(event.text, longTexts && startOf(event.text, longTexts));
            // No tag follows: the rest of the block passes as it is.
            if (state.tagged.plain) state.tagged = undefined;
          } else out.push(withIndex(event, state.blocks));
          break;
        case 'citation-delta':
          cite(state, event);
          break;
        default:
          if (!state.hiding) out.push(withIndex(event, state.blocks));
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
  // Tagged reasoning has no payload; an empty signature marks that.
  if (state.open === 'thinking' && state.tagged) {
    state.out.push({ type: 'signature-delta', index: state.blocks, signature: { format: 'chat', data: '' } });
  }
  state.out.push({ type: 'block-stop', index: state.blocks });
  state.open = undefined;
  state.blocks += 1;
};

/** Opens a block of this type, unless it is open already. */
const ensureOpen = (state: State, type: 'text' | 'thinking'): void => {
  if (state.open === type) return;
  close(state);
  open(state, { type });
};

const taggedText = (state: State, tags: readonly string[], shows: boolean): TaggedText =>
  new TaggedText(tags, {
    thinking(text) {
      if (!shows) return;
      ensureOpen(state, 'thinking');
      state.out.push({ type: 'thinking-delta', index: state.blocks, text });
    },
    thought() {
      if (shows) close(state);
    },
    text(text) {
      state.taken -= text.length;
      ensureOpen(state, 'text');
      state.out.push({ type: 'text-delta', index: state.blocks, text });
    },
  });

/** Emits a citation with its range adjusted; reasoning can't have citations. */
const cite = (state: State, { citation }: CitationDelta): void => {
  if (state.tagged?.inside) {
    state.losses.drop('reply.annotations', 'a source of reasoning');
    return;
  }
  // Citations belong to the answer, so no tag follows.
  state.tagged?.end();
  state.tagged = undefined;
  ensureOpen(state, 'text');
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
