import type { MessageStop } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { Usage } from '../../engine/model/usage.ts';
import { encodeStopReason } from './stop-reason.ts';
import { encodeUsage, withOtherUsage } from './usage.ts';

/** How an answer ended, in the places where a streamed one says it; a whole one says all of it at the top. */
export interface WireEnd {
  /** Inside `delta` of the last `message_delta`. */
  readonly delta: JsonObject;
  /** Beside `delta`. */
  readonly beside: JsonObject;
  readonly usage: JsonObject;
}

/** The end of an answer → wire. `usage` is that of the whole answer. */
export const encodeEnd = (
  { finish, stopSequence, extra }: Pick<MessageStop, 'finish' | 'stopSequence' | 'extra'>,
  usage: Usage,
  refused: boolean,
  { inputEstimate, losses }: ReplyContext,
): WireEnd => {
  const own = extra?.wire === 'messages' ? extra.fields : {};
  if (extra && extra.wire !== 'messages') for (const name of Object.keys(extra.fields)) losses.drop(name);
  const { usage: otherUsage, context_management, ...members } = own;
  return {
    delta: {
      stop_reason: encodeStopReason(finish, refused),
      stop_sequence: finish === 'stop-sequence' ? (stopSequence ?? null) : null,
      ...members,
    },
    beside: context_management === undefined ? {} : { context_management },
    usage: withOtherUsage(encodeUsage(usage, inputEstimate), isJsonObject(otherUsage) ? otherUsage : {}),
  };
};
