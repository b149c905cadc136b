import { finalize, identity, type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { Answered, Decoded, Exchange, Ready, ReplyProgress, Routed } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { mergeUsage, type Usage } from '../model/usage.ts';
import type { Observer } from '../observer.ts';
import type { Gateway } from '../routing/gateway.ts';
import { canPassThrough } from './pass-through.ts';
import { operate } from './rx/operate.ts';

/** Reports the chosen destination. */
export const measureRoute =
  (observer: Observer) =>
  <R extends Routed>(routed: R): R => {
    observer.routed(routed.resolution);
    return routed;
  };

/** Reports the beginning of the upstream's time. Must be the last step before the call. */
export const measureCall =
  (observer: Observer) =>
  <T>(ready: T): T => {
    observer.called();
    return ready;
  };

/** Reports the arrival of each upstream chunk. */
export const measureBytes = (observer: Observer): MonoTypeOperatorFunction<Uint8Array> =>
  operate(() => ({
    next(chunk) {
      observer.upstreamByte();
      return chunk;
    },
  }));

/** Reports the usage in a converted answer, and the fault of an answer that has begun. */
export const measureEvents = (observer: Observer): MonoTypeOperatorFunction<Batch> =>
  operate(() => {
    let usage: Usage = {};
    return {
      next(batch) {
        for (const event of batch) {
          usage = readUsage(event, usage);
          if (event.type === 'error') observer.fault(event.fault);
        }
        return batch;
      },
      over: () => observer.usage(usage),
    };
  });

/** `known`, updated with the counts in `event`. */
export const readUsage = (event: ModelEvent, known: Usage): Usage =>
  (event.type === 'message-start' || event.type === 'message-stop') && event.usage
    ? mergeUsage(known, event.usage)
    : known;

/** Reports the first byte that the client gets, and the final status. Must be the last step. */
export const measureReply = (observer: Observer, progress: ReplyProgress): MonoTypeOperatorFunction<ReplyPart> =>
  operate(() => {
    let sent = 500;
    let status = clientClosed;
    return {
      next(part) {
        if (part.type === 'data') {
          observer.opened();
          if (progress.begun) observer.firstByte();
        } else if (part.type === 'head') sent = part.status;
        else {
          // Set now: the subscriber may unsubscribe as soon as it has a whole reply.
          status = sent = part.status;
          observer.firstByte();
        }
        return part;
      },
      end() {
        status = sent;
        return undefined;
      },
      failed(error) {
        status = 500;
        throw error;
      },
      over: () => observer.finished(status),
    };
  });

/** The status of a request whose client closed the connection before the answer was complete. */
const clientClosed = 499;

/** Records the decoded request. Like all taps but `tapAnswer`, it is `identity` unless the request is captured. */
export const tapDecoded = ({ watcher }: Exchange): ((decoded: Decoded) => Decoded) => {
  const recorder = watcher?.recorder;
  return recorder ? also((decoded: Decoded) => recorder.decoded(decoded)) : identity;
};

/** Records the request with its destination. */
export const tapRouted = ({ watcher }: Exchange): ((routed: Routed) => Routed) => {
  const recorder = watcher?.recorder;
  return recorder ? also((routed: Routed) => recorder.routed(routed)) : identity;
};

/** Records the changes to earlier reasoning. */
export const tapSettled = ({ watcher }: Exchange): ((routed: Routed) => Routed) => {
  const recorder = watcher?.recorder;
  return recorder ? also((routed: Routed) => recorder.settled(routed)) : identity;
};

/** Records the upstream call. */
export const tapEncoded = ({ watcher }: Exchange): ((ready: Ready) => Ready) => {
  const recorder = watcher?.recorder;
  return recorder ? also((ready: Ready) => recorder.encoded(ready)) : identity;
};

/** Reports which directions pass through, for the summary of every request. */
export const tapAnswer = ({ watcher }: Exchange): MonoTypeOperatorFunction<Answered> =>
  watcher
    ? tap((answered) => watcher.answered({ request: answered.passThrough.request, reply: canPassThrough(answered) }))
    : identity;

/** Records what the client gets and when. */
export const tapReply = ({ watcher }: Exchange): MonoTypeOperatorFunction<ReplyPart> => {
  const recorder = watcher?.recorder;
  return recorder
    ? (source) =>
        source.pipe(
          tap((part) => recorder.part(part)),
          finalize(() => recorder.mark('end')),
        )
    : identity;
};

/** A step that calls `look` with its value and passes the value on. */
const also =
  <T>(look: (value: T) => void): ((value: T) => T) =>
  (value) => {
    look(value);
    return value;
  };

/** Logs a request's destination, the reason and the losses; once per destination, not per retry. */
export const logRoute =
  (gateway: Gateway) =>
  (ready: Ready): Ready => {
    const { id, client, asked, resolution, passThrough, context, call, retries } = ready;
    if (retries > 0) return ready;
    const { provider, model, scenario, reason, tokens, warnings } = resolution;
    gateway.log.info(`routed to ${provider.name},${model}`, {
      requestId: id,
      client: client.wire,
      asked: asked.model,
      scenario,
      reason,
      tokens,
      url: call.url.origin + call.url.pathname,
      relays: passThrough,
      losses: context.losses.size > 0 ? context.losses.list : undefined,
    });
    if (context.losses.size > 0) gateway.losses.count(context.losses.list);
    for (const warning of warnings) gateway.log.warn(warning, { requestId: id });
    return ready;
  };
