import { performance } from 'node:perf_hooks';
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { streamHeaders } from './headers.ts';

/** How often one looks whether anything was heard, per wait: to set a timer back with each chunk would cost too much. */
const looks = 8;

/**
 * Sends the protocol's keep-alive whenever a streaming client has heard nothing for `everyMs`, or up to an eighth more, from
 * the request's beginning on; never inside a record. One timer per request.
 */
export const bridgeSilence =
  ({ client, delivery }: Exchange, everyMs: number): MonoTypeOperatorFunction<ReplyPart> =>
  (source) =>
    new Observable((subscriber) => {
      let heard = false;
      let silentFromMs = performance.now();
      const beat = (): void => {
        if (!delivery.streaming || !delivery.betweenRecords) return;
        if (!delivery.opened) subscriber.next({ type: 'head', status: 200, headers: streamHeaders });
        delivery.opened = true;
        subscriber.next({ type: 'data', data: client.keepAlive });
      };
      const look = (): void => {
        const nowMs = performance.now();
        if (heard) silentFromMs = nowMs;
        heard = false;
        if (nowMs - silentFromMs < everyMs) return;
        silentFromMs = nowMs;
        beat();
      };
      const timer = setInterval(look, everyMs / looks);
      subscriber.add(() => clearInterval(timer));
      return source.subscribe({
        next(part) {
          heard = true;
          if (part.type !== 'head' || !delivery.opened) subscriber.next(part);
        },
        complete: () => subscriber.complete(),
        error: (error: unknown) => subscriber.error(error),
      });
    });
