import type { MonoTypeOperatorFunction } from 'rxjs';
import { type Answered, fill, type Ready, type Reconciled } from '../exchange.ts';
import { packAnswer, shortenResults, summaryRequest, usualPrompt } from '../model/compaction.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { type Fault, FaultError, fail } from '../model/fault.ts';
import { lengthOf } from '../model/wire/sse.ts';
import type { AnswerChunk } from '../model/wire/sse-record.ts';
import type { Gateway } from '../routing/gateway.ts';
import { AnswerReservation } from './bound-answer.ts';
import { replyIn } from './read-events.ts';
import { StreamDecoder, withOwnLosses } from './relay-reply.ts';
import { refuseOverlong } from './route.ts';
import type { SequenceStep } from './rx/sequence.ts';
import { joinBytes, nonEmpty, operate, type StageGroup, type StreamStage } from './rx/stages.ts';

type Missing = Gateway['missing'];

/**
 * Asks the model for a summary in place of an answer. Throws `invalid-request` for an empty conversation, and `upstream-context` for one
 * that surely exceeds the model's window.
 */
export const askForSummary =
  (gateway: Gateway): SequenceStep<Reconciled, Reconciled> =>
  (reconciled) => {
    const { request, plan, context } = reconciled;
    const { window = Number.POSITIVE_INFINITY } = plan;
    if (request.turns.length === 0) {
      fail('invalid-request', 'There is no conversation to summarize.', { param: request.compaction?.at });
    }
    const losses = context.losses.at(plan.format.name);
    const shortened = shortenResults(request, context.inputEstimate, window, losses);
    const asked = summaryRequest(shortened, gateway.config.router.compactPrompt ?? usualPrompt);
    return refuseOverlong(fill(reconciled, { request: asked }), gateway);
  };

/** The stages of an answer that is a summary: the client gets it packed, as a block of its own format. */
export const packSummaries = ({ group }: StageGroup<Answered, Batch>): StageGroup<Answered, Batch> => ({
  group: [...group, packing],
});

const packing: StreamStage<Answered, Batch, Batch> = ({ client, context }) => {
  const running = client.summary && packAnswer(client.summary).start(context);
  return {
    next(batch) {
      const out: ModelEvent[] = [];
      for (const event of batch) running?.step(event, out);
      return nonEmpty(out);
    },
  };
};

/** A longer answer without a compaction so far passes as it is. */
const maxBufferedBytes = 4 << 20;

/**
 * Holds the answer of a vendor that is to compact the conversation until its compaction begins. Some servers ignore the request for one and
 * answer as usual: then remembers it, and throws a fault by which their model is asked for a summary instead.
 */
export const requireCompaction = (
  ready: Ready,
  streamed: boolean,
  missing: Missing,
): MonoTypeOperatorFunction<AnswerChunk> =>
  operate(() => {
    const { plan, context, answerMemory } = ready;
    const memory = new AnswerReservation(answerMemory);
    const decoder = streamed ? new StreamDecoder(ready) : undefined;
    let chunks: AnswerChunk[] = [];
    let bytes = 0;
    let passes = false;
    const release = (): Uint8Array => {
      passes = true;
      memory.set(0);
      const buffered = joinBytes(chunks);
      chunks = [];
      return buffered;
    };
    /** The buffered bytes, once the answer is known to be a compaction, or a failure. */
    const judge = (events: Batch): Uint8Array | undefined => {
      if (events.some((event) => event.type === 'error' || isCompaction(event))) return release();
      if (!events.some(({ type }) => type === 'message-stop')) return undefined;
      missing.add(plan, 'compaction');
      throw new FaultError(withoutCompaction);
    };
    return {
      next(chunk) {
        if (passes) return chunk;
        chunks.push(chunk);
        bytes += lengthOf(chunk);
        if (bytes > maxBufferedBytes || !memory.tryReserve(bytes)) return release();
        return decoder && judge(decoder.take(chunk));
      },
      end() {
        if (passes) return undefined;
        const reply = decoder ? undefined : replyIn(joinBytes(chunks));
        return (
          (reply && judge(plan.upstream.decodeReply(reply, withOwnLosses(context, plan.format.name)))) ?? release()
        );
      },
      finalize: () => memory.set(0),
    };
  });

const isCompaction = (event: ModelEvent): boolean =>
  event.type === 'block-start' &&
  event.block.type === 'opaque' &&
  String(event.block.raw.type).startsWith('compaction');

const withoutCompaction: Fault = {
  kind: 'upstream-garbled',
  message: 'The upstream was asked to compact the conversation, and answered as if it had not been.',
  countsAgainstHealth: false,
  retryAs: 'without-compaction',
};

/** Statuses of servers that don't have the path of a request. */
const unknownPaths: ReadonlySet<number> = new Set([404, 405, 501]);

/** Statuses of servers that don't know a member of the body, whose words then name it. */
const unknownMembers: ReadonlySet<number> = new Set([400, 422]);

/** Whether the upstream refuses a compaction since it has none. A server without the path for it isn't asked again for a while. */
export const refusesCompaction = (
  { request, plan }: Ready,
  { message, param, code }: Fault,
  status: number,
  missing: Missing,
): boolean => {
  if (!request.compaction) return false;
  if (!request.compaction.byPath) return unknownMembers.has(status) && /compaction/.test(`${message} ${param ?? ''}`);
  // An error that names a member or the model is about the request.
  if (!unknownPaths.has(status) || param !== undefined || code === 'model_not_found') return false;
  missing.add(plan, 'compaction');
  return true;
};
