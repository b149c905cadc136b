import type { ReplyContext } from '../../../engine/model/context.ts';
import { boundBlocks, type FinishReason, type ModelEvent } from '../../../engine/model/event.ts';
import { DeltaParser } from '../../../engine/model/json/delta-parser.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { citationsOf, type Grounding } from '../citations.ts';
import type { GenerateContentResponse, UsageMetadata } from '../schema-reply.ts';
import { wireFormat } from '../tool-names.ts';

/** The state of a reply while it is decoded. */
export interface ReplyState {
  readonly context: ReplyContext;
  /** Parser for the bodies that hold a single delta. */
  readonly deltaParser: DeltaParser<JsonObject & GenerateContentResponse>;
  started: boolean;
  done: boolean;
  /** What was said outside the framing since the last body. */
  said: string;
  open: 'none' | 'text' | 'thinking';
  /** The index of the open block, or of the next one. */
  index: number;
  calls: number;
  finish: FinishReason | undefined;
  promptFeedback: GenerateContentResponse['promptFeedback'];
  usage: UsageMetadata;
  grounding: Grounding | undefined;
  /** The open text block, in pieces. */
  readonly text: string[];
  /** UTF-8 bytes of the closed text blocks: grounding counts from the start of the reply's text. */
  closedBytes: number;
  /** Sources were sent up to this byte of the text. */
  citedBytes: number;
  /** The open text block's signature; empty without one. It follows the block, as redacted reasoning. */
  textSignature: string;
}

export const newReplyState = (context: ReplyContext): ReplyState => ({
  context,
  deltaParser: new DeltaParser(),
  started: false,
  done: false,
  said: '',
  open: 'none',
  index: 0,
  calls: 0,
  finish: undefined,
  promptFeedback: undefined,
  usage: {},
  grounding: undefined,
  text: [],
  closedBytes: 0,
  citedBytes: 0,
  textSignature: '',
});

/** Closes the open block, then opens this one. */
export const openBlock = (state: ReplyState, kind: 'text' | 'thinking', out: ModelEvent[]): void => {
  closeBlock(state, out);
  state.open = kind;
  out.push({ type: 'block-start', index: state.index, block: { type: kind } });
};

/** Closes the open block, if any: its sources come before the stop, its signature after it. */
export const closeBlock = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.open === 'none') return;
  if (state.open === 'text') endText(state, out);
  state.open = 'none';
  stopBlock(state, out);
  const signature = state.textSignature;
  state.textSignature = '';
  if (signature !== '') writeTextSignature(state, signature, out);
};

/** Ends the last block. */
export const stopBlock = (state: ReplyState, out: ModelEvent[]): void => {
  out.push({ type: 'block-stop', index: state.index });
  state.index += 1;
  boundBlocks(state.index);
};

/** A text block can't hold a signature; redacted reasoning directly after it survives every client. */
export const writeTextSignature = (state: ReplyState, data: string, out: ModelEvent[]): void => {
  const block = { type: 'redacted-thinking', signature: { format: wireFormat, data } } as const;
  out.push({ type: 'block-start', index: state.index, block });
  stopBlock(state, out);
};

const endText = (state: ReplyState, out: ModelEvent[]): void => {
  const text = state.text.join('');
  const closedBytes = state.closedBytes + Buffer.byteLength(text);
  if (state.grounding) {
    const cited = { from: state.closedBytes, text, citedBytes: state.citedBytes };
    for (const citation of citationsOf(state.grounding, cited)) {
      out.push({ type: 'citation-delta', index: state.index, citation });
    }
    state.citedBytes = closedBytes;
  }
  state.closedBytes = closedBytes;
  state.text.length = 0;
};
