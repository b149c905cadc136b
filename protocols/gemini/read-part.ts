import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject } from '../../engine/model/json.ts';
import { makeCallId, wireFormat } from './call-id.ts';
import { closeBlock, openBlock, stopBlock, writeSeal } from './reply-blocks.ts';
import type { ReplyState } from './reply-state.ts';
import type { WirePart } from './schema.ts';

/** One part of the answer → events. */
export const readPart = (state: ReplyState, part: WirePart, out: ModelEvent[]): void => {
  if (part.functionCall) callTool(state, part, part.functionCall, out);
  else if (isOpaque(part)) passOpaque(state, part, out);
  else if (part.thought) think(state, part, out);
  else say(state, part, out);
};

const plainMembers: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'functionCall']);

const isOpaque = (part: WirePart): boolean =>
  typeof part.text !== 'string' && Object.keys(part).some((name) => !plainMembers.has(name));

const say = (state: ReplyState, { text, thoughtSignature }: WirePart, out: ModelEvent[]): void => {
  // Two signed parts never become one: the first one's signature would be lost.
  if (thoughtSignature && state.textSignature !== '') closeBlock(state, out);
  if (text) {
    if (state.open !== 'text') {
      openBlock(state, 'text', out);
      state.textFrom = state.text.length;
    }
    out.push({ type: 'text-delta', index: state.index, text });
    state.text.push(text);
  }
  if (!thoughtSignature) return;
  if (state.open === 'text') state.textSignature = thoughtSignature;
  else {
    closeBlock(state, out);
    writeSeal(state, thoughtSignature, out);
  }
};

const think = (state: ReplyState, { text, thoughtSignature }: WirePart, out: ModelEvent[]): void => {
  if (!text && !thoughtSignature) return;
  if (state.open !== 'thinking') openBlock(state, 'thinking', out);
  if (text) out.push({ type: 'thinking-delta', index: state.index, text });
  if (!thoughtSignature) return;
  const signature = { format: wireFormat, data: thoughtSignature };
  out.push({ type: 'signature-delta', index: state.index, signature });
  closeBlock(state, out);
};

const callTool = (
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
  const json = isJsonObject(args) ? JSON.stringify(args) : '{}';
  if (json !== '{}') out.push({ type: 'input-delta', index: state.index, json });
  stopBlock(state, out);
  state.calls += 1;
};

const passOpaque = (state: ReplyState, part: WirePart, out: ModelEvent[]): void => {
  closeBlock(state, out);
  if (!isJsonObject(part)) return;
  out.push({ type: 'block-start', index: state.index, block: { type: 'opaque', wire: wireFormat, raw: part } });
  stopBlock(state, out);
};
