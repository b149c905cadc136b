import { isJsonObject, parseJson } from '../../api/json.ts';
import type { Capture, RequestSummary } from '../../api/requests/requests.ts';
import type { Answer } from '../../stream/answer.ts';
import type { Conversation } from '../../stream/conversation.ts';
import { parseCutJson } from '../../stream/parse-cut-json.ts';
import { readConversation } from '../../stream/read-conversation.ts';
import { readAnswer } from '../../stream/recorded-answer.ts';

/** A recorded request as a conversation, and its response. */
interface Exchange {
  /** `undefined`: the body isn't a JSON object. */
  readonly conversation: Conversation | undefined;
  readonly answer: Answer;
  /** What is missing, in whole sentences. */
  readonly missing: readonly string[];
}

/** Reads what the client sent and received. */
export const readExchange = (summary: RequestSummary, { client, reply, unasked = false }: Capture): Exchange => {
  const body = client.truncated ? parseCutJson(client.body) : parseJson(client.body);
  const conversation = isJsonObject(body) ? readConversation(summary.protocol, body) : undefined;
  const answer = readAnswer(summary, reply);
  const { ended, fault } = answer;
  const missing = [
    !conversation && 'The body of the request is not a JSON object, so no conversation can be shown.',
    conversation && client.truncated && 'Only the beginning of the request was recorded: its later turns are missing.',
    reply.truncated && 'Only the beginning of the response was recorded: its end is missing.',
    unasked && reply.status < 400 && reply.chunks.length === 0
      ? 'The response was under way when the request failed: what came before was not recorded.'
      : !reply.truncated && !ended && fault === undefined && endOf(reply),
  ];
  return { conversation, answer, missing: missing.filter((text) => text !== false && text !== undefined) };
};

const endOf = ({ status, chunks }: Capture['reply']): string => {
  if (status === 499) return 'The client disconnected before the response was complete.';
  return chunks.length === 0 ? 'No response was sent.' : 'The response ended before it was complete.';
};
