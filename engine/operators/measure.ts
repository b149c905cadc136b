import { defer, finalize, type MonoTypeOperatorFunction, map, tap } from 'rxjs';
import type { Delivery, Routed } from '../exchange.ts';
import type { RequestMeter } from '../metrics/request-meter.ts';
import type { ModelEvent } from '../model/event.ts';
import { faultOf } from '../model/fault.ts';
import { mergeUsage, type Usage } from '../model/usage.ts';
import type { ReplyPart } from '../reply-part.ts';
import type { Batch } from './read-events.ts';

/** Stands behind routing: who answers. */
export const measureRoute =
  (meter: RequestMeter) =>
  <R extends Routed>(routed: R): R => {
    meter.routed(routed.resolution);
    return routed;
  };

/** Stands right before the call: when the upstream's time begins. */
export const measureCall =
  (meter: RequestMeter) =>
  <T>(ready: T): T => {
    meter.called();
    return ready;
  };

/** Stands where the upstream's bytes arrive, before anything is made of them. */
export const measureBytes = (meter: RequestMeter): MonoTypeOperatorFunction<Uint8Array> =>
  map((chunk) => {
    meter.upstreamByte();
    return chunk;
  });

/** Stands behind what may fail and before what words the failure. */
export const measureFaults = <T>(meter: RequestMeter): MonoTypeOperatorFunction<T> =>
  tap({ error: (error: unknown) => meter.fault(faultOf(error)) });

/** Stands where the upstream's events are: what it counted, and the fault of an answer that has begun. */
export const measureEvents =
  (meter: RequestMeter): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      let usage: Usage = {};
      return source.pipe(
        tap((batch) => {
          for (const event of batch) {
            usage = readUsage(event, usage);
            if (event.type === 'error') meter.fault(event.fault);
          }
        }),
        finalize(() => meter.usage(usage)),
      );
    });

/** The counts known after `event`. */
export const readUsage = (event: ModelEvent, known: Usage): Usage =>
  (event.type === 'message-start' || event.type === 'message-stop') && event.usage
    ? mergeUsage(known, event.usage)
    : known;

/** Stands last, so that it sees what the client gets: its first byte, and how it ended. */
export const measureReply =
  (meter: RequestMeter, delivery: Delivery): MonoTypeOperatorFunction<ReplyPart> =>
  (source) =>
    defer(() => {
      let given = 500;
      let status = clientGone;
      return source.pipe(
        tap({
          next(part) {
            if (part.type === 'data') {
              meter.opened();
              if (delivery.begun) meter.firstByte();
            } else if (part.type === 'head') given = part.status;
            else {
              // Whoever sends it may let go at once: nothing follows.
              status = given = part.status;
              meter.firstByte();
            }
          },
          complete() {
            status = given;
          },
          error() {
            status = 500;
          },
          finalize: () => meter.finished(status),
        }),
      );
    });

/** The status of an answer whose client went before it was complete. */
const clientGone = 499;
