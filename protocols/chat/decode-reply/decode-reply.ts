import Type, { type Static } from 'typebox';
import type { ReplyContext } from '../../../engine/model/context.ts';
import { probabilitiesIn, type TokenChances } from '../../../engine/model/decision.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { readError } from '../../../engine/model/upstream-error/read-error.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { ChatReply, type Choice, WireToken } from '../schema-reply.ts';
import { endReply, readChunk, reportedError } from './decode-stream.ts';
import { failReply, newReplyState } from './reply-state.ts';

const chatReply = lenientReader(ChatReply);

/**
 * Decodes a `chat.completion` as one chunk that holds everything. A success status may still carry an error. Source:
 * OpenAI API reference, "The chat completion object".
 */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const out: ModelEvent[] = [];
  const state = newReplyState(context);
  const error = reportedError(body);
  const reply = chatReply.readable(body);
  if (error !== undefined) failReply(state, decodeReportedFault(error), out);
  else if (reply) {
    readChunk(state, { ...reply, choices: reply.choices.map(asDelta) }, out);
    endReply(state, out);
    addProbabilities(reply, context, out);
  } else if (!body.choices && readError(body).message !== '') failReply(state, decodeReportedFault(body), out);
  else {
    const first = chatReply.faults(body)[0];
    const what = `${first?.path ?? ''} ${first?.message ?? 'is invalid'}`.trim();
    failReply(state, { kind: 'upstream-garbled', message: `The upstream's answer can't be read: ${what}.` }, out);
  }
  return out;
};

/** Of a decision: how likely each answer was, by the answer's tokens. */
const addProbabilities = ({ choices }: ChatReply, { request }: ReplyContext, out: ModelEvent[]): void => {
  const end = out.at(-1);
  if (!request.decision || end?.type !== 'message-stop') return;
  const tokens = logprobs.readable(choices[0]?.logprobs)?.content;
  const probabilities = tokens && probabilitiesIn(tokens.map(chancesOf), request.decision.answers);
  if (probabilities) out.splice(-1, 1, { ...end, probabilities });
};

const chancesOf = ({ top_logprobs: others, ...chosen }: Static<typeof WireToken>): TokenChances => ({
  ...chosen,
  others: others ?? [],
});

/** Source: OpenAI API reference, "The chat completion object", `choices[].logprobs`. */
const logprobs = lenientReader(Type.Object({ content: Type.Array(WireToken) }));

/**
 * A reply's choice as a chunk's. Each call is complete, so it gets its own index; a missing finish reason is no error
 * here.
 */
const asDelta = ({ message, finish_reason, error, usage, ...more }: ChatReply['choices'][number]): Choice => ({
  native_finish_reason: more.native_finish_reason,
  delta: message?.tool_calls
    ? { ...message, tool_calls: message.tool_calls.map((call, index) => ({ ...call, index })) }
    : (message ?? null),
  finish_reason: finish_reason || (message ? 'stop' : null),
  error,
  usage: usage ?? null,
});
