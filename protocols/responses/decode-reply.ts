import type { ModelEvent } from '../../engine/model/event.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import { newAnswer } from './answer-items.ts';
import { failGarbled, readTerminal } from './read-event.ts';
import { ResponseObject } from './reply-schema.ts';

const responseReader = reader(ResponseObject);

/** A whole response object → the same events in one batch. */
export const decodeReply = (body: object, context: ReplyContext): ModelEvent[] => {
  const state = newAnswer(context);
  const out: ModelEvent[] = [];
  const response = responseReader.matches(body) ? body : undefined;
  const known = response?.output ?? response?.error ?? undefined;
  if (response === undefined || known === undefined || /queued|in_progress/.test(response.status ?? '')) {
    failGarbled(state, out, "The upstream's answer is not a complete response object.");
  } else {
    readTerminal(state, `response.${response.status ?? (response.error ? 'failed' : 'completed')}`, response, out);
  }
  return out;
};
