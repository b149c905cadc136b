import { type JsonObject, parseObject } from '../api/json.ts';
import type { Protocol } from '../api/protocols.ts';
import type { SseRecord } from '../api/requests/sse-records.ts';
import type { Answer } from './answer.ts';
import { AnswerBuilder } from './answer-builder.ts';
import { readChatChunk, readChatReply } from './read-chat.ts';
import { readMessagesEvent, readMessagesReply } from './read-messages.ts';
import { readResponsesEvent, readResponsesReply } from './read-responses.ts';

/** Reads one response. */
interface AnswerReader {
  /** Reads a record of the stream. Malformed records are skipped: they are among the raw events. */
  readonly record: (record: SseRecord) => void;
  /** Reads the text of a response that isn't streamed. */
  readonly whole: (text: string) => void;
  /** Pieces so far. */
  readonly deltas: () => number;
  /** The response so far. */
  readonly answer: () => Answer;
}

type Take = (answer: AnswerBuilder, value: JsonObject) => void;

const takers: Readonly<Record<Protocol, { readonly event: Take; readonly reply: Take }>> = {
  messages: { event: readMessagesEvent, reply: readMessagesReply },
  chat: { event: readChatChunk, reply: readChatReply },
  responses: { event: readResponsesEvent, reply: readResponsesReply },
};

/** Creates a reader for a response in this protocol. */
export const answerReader = (protocol: Protocol): AnswerReader => {
  const builder = new AnswerBuilder();
  const { event, reply } = takers[protocol];
  return {
    record({ data }) {
      // The end of a Chat Completions stream isn't an object.
      if (data === '[DONE]') builder.ended = true;
      const value = parseObject(data);
      if (value) event(builder, value);
    },
    whole(text) {
      const value = parseObject(text);
      if (value) reply(builder, value);
    },
    deltas: () => builder.deltas,
    answer: () => builder.snapshot(),
  };
};
