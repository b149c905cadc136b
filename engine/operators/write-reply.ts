import type { OperatorFunction } from 'rxjs';
import { type Answered, releaseBody } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { FaultError, withinStack } from '../model/fault.ts';
import { writeJson } from '../model/json/exact-numbers.ts';
import { foldReply, isFault } from '../model/reply.ts';
import { jsonHeaders, limitHeaders, routeHeaders, streamHeaders } from './reply-headers.ts';
import { flatMapOne } from './rx/flat-map-one.ts';
import type { Handlers, StageList, StreamStage } from './rx/stages.ts';

/** Events → what the client asked for: a stream of its protocol, or one whole reply. */
export const encodeEvents = (): StreamStage<Answered, Batch, ReplyPart> => (answered) =>
  answered.progress.streaming ? encodeStream(answered) : encodeWhole(answered);

const encodeStream = ({ plan, context, progress }: Answered): Handlers<Batch, ReplyPart> => {
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
};

/** One write per batch. */
const toData = (texts: readonly string[]): ReplyPart | undefined =>
  texts.length > 0 ? { type: 'data', data: texts.join('') } : undefined;

const encodeWhole = (answered: Answered): Handlers<Batch, ReplyPart> => {
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
};

/** Sends the head before the first part of a stream, and notes how far the answer has come. */
export const sendReply = (): StreamStage<Answered, ReplyPart, ReplyPart> => (answered) => {
  const { progress } = answered;
  return {
    first: progress.streaming ? streamHead(answered) : undefined,
    next(part) {
      if (part.type === 'data') progress.opened = true;
      if (!progress.begun) releaseBody(answered);
      progress.begun = true;
      return part;
    },
  };
};

const streamHead = (answered: Answered): ReplyPart => ({
  type: 'head',
  status: 200,
  headers: { ...streamHeaders, ...limitHeaders(answered.answer.headers), ...routeHeaders(answered) },
});

/** The upstream's body → what the client gets, by the list of stages that `choose` picks for this answer. */
export const writeReply = (
  choose: (answered: Answered) => StageList<Answered, Uint8Array, ReplyPart>,
): OperatorFunction<Answered, ReplyPart> => flatMapOne((answered) => choose(answered)(answered)(answered.answer.body));
