import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { readError } from '../../../engine/model/upstream-error/read-error.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { ResponseObject } from '../schema-reply.ts';
import { failGarbled, readTerminal } from './decode-stream.ts';
import { newReplyState } from './reply-state.ts';

const responseReader = lenientReader(ResponseObject);

/** Decodes a whole response object into the same events. */
export const decodeReply = (body: JsonObject, context: ReplyContext): ModelEvent[] => {
  const state = newReplyState(context);
  const out: ModelEvent[] = [];
  const response = responseReader.readable(body);
  const known = response?.output ?? response?.error ?? undefined;
  const pending = /queued|in_progress/.test(response?.status ?? '');
  if (response && known !== undefined && !pending) {
    readTerminal(state, `response.${response.status ?? (response.error ? 'failed' : 'completed')}`, response, out);
  } else if (!pending && readError(body).message !== '') out.push({ type: 'error', fault: decodeReportedFault(body) });
  else failGarbled(state, out, "The upstream's answer is not a complete response object.");
  return out;
};
