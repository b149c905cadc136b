import type { ModelEvent } from '../../engine/model/event.ts';
import type { Fault } from '../../engine/model/fault.ts';
import { isJsonObject, type Json } from '../../engine/model/json.ts';
import { type MachineSpec, machine } from '../../engine/model/machine.ts';
import { cutOff } from '../../engine/model/reply.ts';
import { wireFormat } from './call-id.ts';
import { groundedBytes } from './citations.ts';
import { reportedFault } from './faults.ts';
import { decodeFinish } from './finish.ts';
import { readPart } from './read-part.ts';
import { closeBlock } from './reply-blocks.ts';
import { type ReplyState, startState } from './reply-state.ts';
import { type Candidate, type GenerateContentResponse, responseReader } from './schema.ts';
import { decodePromptUsage, decodeUsage } from './usage.ts';

const spec: MachineSpec<ReplyState, Json | undefined, ModelEvent> = {
  initial: startState,
  step(state, body, out) {
    if (state.done) return;
    if (isJsonObject(body) && isJsonObject(body.error)) return end(state, out, reportedFault(body.error));
    if (!responseReader.matches(body)) return end(state, out, garbled);
    if (!state.started) start(state, body, out);
    if (body.usageMetadata) state.usage = body.usageMetadata;
    if (body.promptFeedback?.blockReason) state.promptFeedback = body.promptFeedback;
    const candidate = body.candidates?.[0];
    if (candidate) readCandidate(state, candidate, out);
  },
  end(state, out) {
    if (state.done) return;
    const finish = state.finish ?? (state.promptFeedback ? 'filtered' : undefined);
    if (!finish) return end(state, out, cutOff);
    closeBlock(state, out);
    const { usage, grounding, citedBytes, promptFeedback, context } = state;
    if (grounding && groundedBytes(grounding) > citedBytes) context.losses.drop('groundingMetadata', 'no text to cite');
    out.push({
      type: 'message-stop',
      finish: state.calls > 0 && finish !== 'length' ? 'tool-call' : finish,
      usage: decodeUsage(usage, grounding),
      extra: promptFeedback ? { wire: wireFormat, fields: { promptFeedback: { ...promptFeedback } } } : undefined,
    });
  },
};

/**
 * Bodies, a whole reply or the steps of a stream, → events. Blocks are held open until something else comes, since text goes on
 * in the next body and its sources come last. `message-stop` waits for the end: finish reasons and counts come late.
 */
export const readReplies = machine(spec);

const garbled: Fault = {
  kind: 'upstream-garbled',
  message: "The upstream sent something that can't be read as a reply.",
};

const end = (state: ReplyState, out: ModelEvent[], fault: Fault): void => {
  state.done = true;
  out.push({ type: 'error', fault });
};

const start = (state: ReplyState, body: GenerateContentResponse, out: ModelEvent[]): void => {
  state.started = true;
  const { responseId, modelVersion, usageMetadata } = body;
  out.push({
    type: 'message-start',
    id: responseId ?? '',
    model: modelVersion || state.context.model,
    usage: usageMetadata ? decodePromptUsage(usageMetadata) : undefined,
  });
};

const readCandidate = (state: ReplyState, candidate: Candidate, out: ModelEvent[]): void => {
  for (const part of candidate.content?.parts ?? []) readPart(state, part, out);
  if (candidate.groundingMetadata) state.grounding = candidate.groundingMetadata;
  const word = candidate.finishReason;
  if (!word || state.finish) return;
  state.finish = decodeFinish(word);
  if (state.finish) return;
  const detail = candidate.finishMessage ? `: ${candidate.finishMessage}` : '.';
  end(state, out, { kind: 'upstream-error', message: `The model failed with ${word}${detail}`, code: word });
};
