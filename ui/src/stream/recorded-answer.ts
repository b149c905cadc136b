import { failureIn } from '../api/call.ts';
import type { Protocol } from '../api/protocols.ts';
import type { Capture } from '../api/requests.ts';
import type { Answer } from './answer.ts';
import { answerReader } from './answer-reader.ts';
import { isEventStream, recordsOf, textOf } from './chunk-records.ts';

/** The response that the client received. */
export const readAnswer = (protocol: Protocol, { status, headers, chunks }: Capture['reply']): Answer => {
  const reader = answerReader(protocol);
  if (isEventStream(headers)) {
    for (const record of recordsOf(chunks)) reader.record(record);
    return reader.answer();
  }
  const text = textOf(chunks);
  if (status < 400) reader.whole(text);
  return status < 400 ? reader.answer() : { ...reader.answer(), fault: failureIn(status, text).message };
};
