import type { Limits } from '../config/schema.ts';
import type { Answered } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import { RecordBound } from './record-bound.ts';
import type { StreamStage } from './rx/stages.ts';

/**
 * Bounds what later steps collect of an answer. The bounds hold for each record of a stream, and for an answer that becomes one
 * whole reply. Throws `upstream-garbled` beyond a bound, which ends the upstream call.
 */
export const boundReply =
  ({
    recordBytes,
    replyBytes,
  }: Pick<Limits, 'recordBytes' | 'replyBytes'>): StreamStage<Answered, Uint8Array, Uint8Array> =>
  ({ answer: { streamed }, progress: { streaming } }) => {
    const record = streamed ? new RecordBound() : undefined;
    // A client that doesn't stream gets one whole reply, even if the upstream streams.
    const collected = !streamed || !streaming;
    let bytes = 0;
    return {
      next(chunk) {
        bytes += chunk.length;
        if (collected && bytes > replyBytes) throw tooLarge("The upstream's answer", replyBytes, 'replyBytes');
        record?.add(chunk);
        if (record && record.pendingBytes > recordBytes) {
          throw tooLarge("A record of the upstream's stream", recordBytes, 'recordBytes');
        }
        return chunk;
      },
    };
  };

/**
 * Bounds the content of a converted stream. Stages buffer tool calls and some client formats repeat the whole text at the end,
 * so all of it may be in memory. Beyond the bound, an `error` event replaces the batch.
 */
export const boundContent =
  ({ replyBytes }: Pick<Limits, 'replyBytes'>): StreamStage<Answered, Batch, Batch> =>
  () => {
    let left = replyBytes;
    return {
      next(batch) {
        for (const event of batch) left -= contentLength(event);
        if (left >= 0) return batch;
        const { fault } = tooLarge("The content of the upstream's stream", replyBytes, 'replyBytes');
        return [{ type: 'error', fault }];
      },
    };
  };

/** The length of an event's content in characters; for the rarer kinds, that of its JSON. */
const contentLength = (event: ModelEvent): number => {
  switch (event.type) {
    case 'text-delta':
    case 'thinking-delta':
      return event.text.length;
    case 'input-delta':
      return event.json.length;
    case 'block-stop':
    case 'error':
      return 0;
    case 'message-start':
    case 'block-start':
    case 'signature-delta':
    case 'citation-delta':
    case 'opaque-delta':
    case 'message-stop':
      return JSON.stringify(event).length;
  }
};

const tooLarge = (what: string, bytes: number, setting: keyof Limits): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `${what} is larger than ${bytes} bytes. LIMITS.${setting} in the configuration sets the limit.`,
  });
