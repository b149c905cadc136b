import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, writeJson } from '../../../engine/model/json/json.ts';
import type { WirePart } from '../schema-reply.ts';
import { makeCallId, wireFormat } from '../tool-names.ts';
import { closeBlock, openBlock, type ReplyState, stopBlock, writeTextSignature } from './reply-state.ts';

/** Reads one part of the reply. */
export const readPart = (state: ReplyState, part: WirePart, out: ModelEvent[]): void => {
  if (part.functionCall) readCall(state, part, part.functionCall, out);
  else if (isOpaque(part)) readOpaque(state, part, out);
  else if (part.thought) readThinking(state, part, out);
  else readText(state, part, out);
};

const plainMembers: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'functionCall']);

const isOpaque = (part: WirePart): boolean =>
  typeof part.text !== 'string' && Object.keys(part).some((name) => !plainMembers.has(name));

const readText = (state: ReplyState, { text, thoughtSignature }: WirePart, out: ModelEvent[]): void => {
  // Two signed parts stay separate: merged, the first signature would be lost.
  if (thoughtSignature && state.textSignature !== '') closeBlock(state, out);
  if (text) {
    if (state.open !== 'text') openBlock(state, 'text', out);
    out.push({ type: 'text-delta', index: state.index, text });
    state.text.push(text);
  }
  if (!thoughtSignature) return;
  if (state.open === 'text') state.textSignature = thoughtSignature;
  else {
    closeBlock(state, out);
    writeTextSignature(state, thoughtSignature, out);
  }
};

const readThinking = (state: ReplyState, { text, thoughtSignature }: WirePart, out: ModelEvent[]): void => {
  if (!text && !thoughtSignature) return;
  if (state.open !== 'thinking') openBlock(state, 'thinking', out);
  if (text) out.push({ type: 'thinking-delta', index: state.index, text });
  if (!thoughtSignature) return;
  const signature = { format: wireFormat, data: thoughtSignature };
  out.push({ type: 'signature-delta', index: state.index, signature });
  closeBlock(state, out);
};

const readCall = (
  state: ReplyState,
  { thoughtSignature }: WirePart,
  { name, id, args }: NonNullable<WirePart['functionCall']>,
  out: ModelEvent[],
): void => {
  closeBlock(state, out);
  const { names, id: requestId } = state.context;
  const block = { type: 'tool-call', id: id || makeCallId(requestId, state.calls), name: names.model(name) } as const;
  const signature = thoughtSignature ? { format: wireFormat, data: thoughtSignature } : undefined;
  out.push({ type: 'block-start', index: state.index, block: signature ? { ...block, signature } : block });
  const json = isJsonObject(args) ? writeJson(args) : '{}';
  if (json !== '{}') out.push({ type: 'input-delta', index: state.index, json });
  stopBlock(state, out);
  state.calls += 1;
};

const readOpaque = (state: ReplyState, part: WirePart, out: ModelEvent[]): void => {
  closeBlock(state, out);
  if (!isJsonObject(part)) return;
  out.push({ type: 'block-start', index: state.index, block: { type: 'opaque', wire: wireFormat, raw: part } });
  stopBlock(state, out);
};
