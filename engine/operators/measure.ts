import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Delivery, Routed } from '../exchange.ts';
import type { RequestMeter } from '../metrics/request-meter.ts';
import type { ModelEvent } from '../model/event.ts';
import { mergeUsage, type Usage } from '../model/usage.ts';
import type { ReplyPart } from '../reply-part.ts';
import { each } from './each.ts';
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
  each(() => ({
    next(chunk) {
      meter.upstreamByte();
      return chunk;
    },
  }));

/** Stands where the upstream's events are: what it counted, and the fault of an answer that has begun. */
export const measureEvents = (meter: RequestMeter): MonoTypeOperatorFunction<Batch> =>
  each(() => {
    let usage: Usage = {};
    return {
      next(batch) {
        for (const event of batch) {
          usage = readUsage(event, usage);
          if (event.type === 'error') meter.fault(event.fault);
        }
        return batch;
      },
      over: () => meter.usage(usage),
    };
  });

/** The counts known after `event`. */
export const readUsage = (event: ModelEvent, known: Usage): Usage =>
  (event.type === 'message-start' || event.type === 'message-stop') && event.usage
    ? mergeUsage(known, event.usage)
    : known;

/** Stands last, so that it sees what the client gets: its first byte, and how it ended. */
export const measureReply = (meter: RequestMeter, delivery: Delivery): MonoTypeOperatorFunction<ReplyPart> =>
  each(() => {
    let given = 500;
    let status = clientGone;
    return {
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
        return part;
      },
      end() {
        status = given;
        return undefined;
      },
      failed(error) {
        status = 500;
        throw error;
      },
      over: () => meter.finished(status),
    };
  });

/** The status of an answer whose client went before it was complete. */
const clientGone = 499;
