import { map, type OperatorFunction, pipe, toArray } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import { foldReply, isFault } from '../model/reply.ts';
import type { ReplyPart } from '../reply-part.ts';
import { each } from './each.ts';
import { jsonHeaders, limitHeaders, routeHeaders } from './headers.ts';
import type { Batch } from './read-events.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const writeParts = (answered: Answered): OperatorFunction<Batch, ReplyPart> =>
  answered.delivery.streaming ? writeStream(answered) : writeWhole(answered);

const writeStream = ({ line, context }: Answered): OperatorFunction<Batch, ReplyPart> =>
  each(() => {
    const writing = line.graph.encodeStream.work.start(context);
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

const writeWhole = (answered: Answered): OperatorFunction<Batch, ReplyPart> =>
  pipe(
    toArray(),
    map((batches): ReplyPart => {
      const folded = foldReply(batches.flat());
      if (isFault(folded)) throw new FaultError(folded);
      const body = JSON.stringify(answered.line.graph.encodeReply.work(folded, answered.context));
      return {
        type: 'whole',
        status: 200,
        headers: { ...jsonHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
        body,
      };
    }),
  );
