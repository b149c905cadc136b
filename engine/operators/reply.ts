import { finalize, mergeMap, type Observable, type OperatorFunction } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import type { Yard } from '../yard/yard.ts';
import { each } from './each.ts';
import { limitHeaders, routeHeaders, streamHeaders } from './headers.ts';

/** The upstream's body → what the client gets, the way that `choose` picks for this answer. */
export const reply = (
  yard: Yard,
  choose: (answered: Answered) => OperatorFunction<Uint8Array, ReplyPart>,
): OperatorFunction<Answered, ReplyPart> =>
  mergeMap((answered): Observable<ReplyPart> => {
    const { delivery, context } = answered;
    const known = context.losses.size;
    return answered.answer.body.pipe(
      choose(answered),
      each(() => ({
        ...(delivery.streaming && { first: streamHead(answered) }),
        next(part) {
          if (part.type === 'data') delivery.opened = true;
          if (part.type !== 'head') delivery.begun = true;
          return part;
        },
      })),
      finalize(() => {
        if (context.losses.size === known) return;
        const losses = context.losses.list.slice(known);
        yard.log.info('losses in the answer', { requestId: answered.id, losses });
        yard.losses.count(losses);
      }),
    );
  });

const streamHead = (answered: Answered): ReplyPart => ({
  type: 'head',
  status: 200,
  headers: { ...streamHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
});
