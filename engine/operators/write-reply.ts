import type { Observable, OperatorFunction } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { FaultError, withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/exact-numbers.ts';
import { foldReply, isFault } from '../model/reply.ts';
import type { Gateway } from '../routing/gateway.ts';
import { jsonHeaders, limitHeaders, routeHeaders, streamHeaders } from './reply-headers.ts';
import { flatMapOne } from './rx/flat-map-one.ts';
import { operate } from './rx/operate.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const encodeEvents = (answered: Answered): OperatorFunction<Batch, ReplyPart> =>
  answered.progress.streaming ? encodeStream(answered) : encodeWhole(answered);

const encodeStream = ({ plan, context, progress }: Answered): OperatorFunction<Batch, ReplyPart> =>
  operate(() => {
    const writing = plan.graph.encodeStream.work.start(context);
    progress.progress = () => {
      const texts: string[] = [];
      writing.progress?.(texts);
      return texts.join('');
    };
    return {
      next(batch) {
        const texts: string[] = [];
        for (const event of batch) writing.step(event, texts);
        return toData(texts);
      },
      end() {
        const texts: string[] = [];
        writing.end(texts);
        return toData(texts);
      },
    };
  });

/** One write per batch. */
const toData = (texts: readonly string[]): ReplyPart | undefined =>
  texts.length > 0 ? { type: 'data', data: texts.join('') } : undefined;

const encodeWhole = (answered: Answered): OperatorFunction<Batch, ReplyPart> =>
  operate(() => {
    const events: ModelEvent[] = [];
    return {
      next(batch) {
        for (const event of batch) events.push(event);
        return undefined;
      },
      end() {
        const folded = foldReply(events);
        if (isFault(folded)) throw new FaultError(folded);
        const body = withinStack('upstream-garbled', "The upstream's answer is nested too deeply.", () =>
          writeJson(answered.plan.graph.encodeReply.work(folded, answered.context)),
        );
        return {
          type: 'whole',
          status: 200,
          headers: { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
          body,
        };
      },
    };
  });

/** The upstream's body → what the client gets, the way that `choose` picks for this answer. */
export const writeReply = (
  gateway: Gateway,
  choose: (answered: Answered) => OperatorFunction<Uint8Array, ReplyPart>,
): OperatorFunction<Answered, ReplyPart> =>
  flatMapOne((answered): Observable<ReplyPart> => {
    const { progress, context } = answered;
    const known = context.losses.size;
    return answered.answer.body.pipe(
      choose(answered),
      operate(() => ({
        ...(progress.streaming && { first: streamHead(answered) }),
        next(part) {
          if (part.type === 'data') progress.opened = true;
          if (part.type !== 'head') progress.begun = true;
          return part;
        },
        over() {
          if (context.losses.size === known) return;
          const losses = context.losses.list.slice(known);
          gateway.log.info('losses in the answer', { requestId: answered.id, losses });
          gateway.losses.count(losses);
        },
      })),
    );
  });

const streamHead = (answered: Answered): ReplyPart => ({
  type: 'head',
  status: 200,
  headers: { ...streamHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
});
