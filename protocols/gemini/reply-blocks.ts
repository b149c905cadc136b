import type { ModelEvent } from '../../engine/model/event.ts';
import { wireFormat } from './call-id.ts';
import { citationsOf } from './citations.ts';
import type { ReplyState } from './reply-state.ts';

/** Opens a block, after closing the one before it. */
export const openBlock = (state: ReplyState, kind: 'text' | 'thinking', out: ModelEvent[]): void => {
  closeBlock(state, out);
  state.open = kind;
  out.push({ type: 'block-start', index: state.index, block: { type: kind } });
};

/** Closes the open block, if any: first come its sources, behind it its signature. */
export const closeBlock = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.open === 'none') return;
  if (state.open === 'text') cite(state, out);
  state.open = 'none';
  stopBlock(state, out);
  const signature = state.textSignature;
  state.textSignature = '';
  if (signature !== '') writeSeal(state, signature, out);
};

/** Ends the block that was begun last. */
export const stopBlock = (state: ReplyState, out: ModelEvent[]): void => {
  out.push({ type: 'block-stop', index: state.index });
  state.index += 1;
};

/** A text's signature has no place on a text block; as sealed reasoning right behind it, it survives every client. */
export const writeSeal = (state: ReplyState, data: string, out: ModelEvent[]): void => {
  const block = { type: 'redacted-thinking', signature: { format: wireFormat, data } } as const;
  out.push({ type: 'block-start', index: state.index, block });
  stopBlock(state, out);
};

const cite = (state: ReplyState, out: ModelEvent[]): void => {
  if (!state.grounding) return;
  const before = state.text.slice(0, state.textFrom).join('');
  const text = state.text.slice(state.textFrom).join('');
  for (const citation of citationsOf(state.grounding, { before, text, citedBytes: state.citedBytes })) {
    out.push({ type: 'citation-delta', index: state.index, citation });
  }
  state.citedBytes = Buffer.byteLength(before) + Buffer.byteLength(text);
};
