import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import { failAnswer, newAnswer } from './answer.ts';
import { decodeReported, reportedError } from './decode-fault.ts';
import { endAnswer, readChunk } from './read-chunk.ts';
import { ChatReply, type Choice } from './schema-reply.ts';

const chatReply = reader(ChatReply);

/**
 * A `chat.completion` → the events of one chunk that holds all of it. A reply may be an error in spite of its status. Source:
 * OpenAI API reference, "The chat completion object".
 */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const out: ModelEvent[] = [];
  const answer = newAnswer(context);
  const error = reportedError(body);
  if (error !== undefined) failAnswer(answer, decodeReported(error), out);
  else if (chatReply.matches(body)) {
    const { choices, ...rest } = body;
    readChunk(answer, { ...rest, choices: choices.map(asDelta) }, out);
    endAnswer(answer, out);
  } else {
    const first = chatReply.faults(body)[0];
    const what = `${first?.path ?? ''} ${first?.message ?? 'is invalid'}`.trim();
    failAnswer(answer, { kind: 'upstream-garbled', message: `The upstream's answer can't be read: ${what}.` }, out);
  }
  return out;
};

/** Calls of a whole message are whole, so each is one of its own. A whole reply needs no finish reason to have ended. */
const asDelta = ({ message, finish_reason, error }: ChatReply['choices'][number]): Choice => ({
  delta: message
    ? { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ ...call, index })) ?? null }
    : null,
  finish_reason: finish_reason || (message ? 'stop' : null),
  error,
});
