import { map, type OperatorFunction, pipe, toArray } from 'rxjs';
import type { Answered } from '../exchange.ts';
import { FaultError } from '../model/fault.ts';
import { foldReply, isFault } from '../model/reply.ts';
import type { ReplyPart } from '../reply-part.ts';
import { jsonHeaders, limitHeaders, routeHeaders } from './headers.ts';
import type { Batch } from './read-events.ts';
import { run } from './run.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const writeParts = (answered: Answered): OperatorFunction<Batch, ReplyPart> =>
  answered.delivery.streaming ? writeStream(answered) : writeWhole(answered);

const writeStream = ({ line, context }: Answered): OperatorFunction<Batch, ReplyPart> =>
  pipe(run(line.graph.encodeStream.work, context), map(toData));

/** One write per batch. */
const toData = (texts: readonly string[]): ReplyPart => ({ type: 'data', data: texts.join('') });

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
