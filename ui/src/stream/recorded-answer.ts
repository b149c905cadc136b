import { failureIn } from '../api/call.ts';
import type { Capture, RequestSummary } from '../api/requests/requests.ts';
import type { Answer } from './answer.ts';
import { answerReader } from './answer-reader.ts';
import { isEventStream, recordsOf, textOf } from './chunk-records.ts';

/** The response that the client received. What the summary says of a failure holds also where the response isn't recorded. */
export const readAnswer = (
  { protocol, fault }: Pick<RequestSummary, 'protocol' | 'fault'>,
  { status, headers, chunks }: Capture['reply'],
): Answer => {
  const reader = answerReader(protocol);
  const text = textOf(chunks);
  if (isEventStream(headers)) for (const record of recordsOf(chunks)) reader.record(record);
  else if (status < 400) reader.whole(text);
  const answer = reader.answer();
  if (status >= 400) return { ...answer, fault: fault?.message ?? failureIn(status, text).message };
  return answer.fault === undefined && fault ? { ...answer, fault: fault.message } : answer;
};
