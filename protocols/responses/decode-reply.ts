import type { ReplyContext } from '../../engine/model/context.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { reader } from '../../engine/model/schema.ts';
import { failGarbled, readTerminal } from './decode-stream.ts';
import { newReplyState } from './reply-state.ts';
import { ResponseObject } from './schema-reply.ts';

const responseReader = reader(ResponseObject);

/** Decodes a whole response object into the same events. */
export const decodeReply = (body: object, context: ReplyContext): ModelEvent[] => {
  const state = newReplyState(context);
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
