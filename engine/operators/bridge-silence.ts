import { defer, filter, finalize, mergeWith, type OperatorFunction, Subject } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { streamHeaders } from './headers.ts';

/**
 * Sends the protocol's keep-alive whenever a streaming client has heard nothing for `everyMs`, from the request's beginning
 * on; never inside a record. One timer per request.
 */
export const bridgeSilence =
  ({ client, delivery }: Exchange, everyMs: number): OperatorFunction<ReplyPart, ReplyPart> =>
  (source) =>
    defer(() => {
      const beats = new Subject<ReplyPart>();
      const beat = (): void => {
        if (!delivery.streaming || !delivery.betweenRecords) return;
        if (!delivery.opened) beats.next({ type: 'head', status: 200, headers: streamHeaders });
        delivery.opened = true;
        beats.next({ type: 'data', data: client.keepAlive });
      };
      const timer = setInterval(beat, everyMs);
      return source.pipe(
        filter((part) => {
          timer.refresh();
          return part.type !== 'head' || !delivery.opened;
        }),
        finalize(() => {
          clearInterval(timer);
          beats.complete();
        }),
        mergeWith(beats),
      );
    });
