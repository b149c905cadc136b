import { catchError, map, type OperatorFunction, of, pipe } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ModelEvent } from '../model/event.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { chain } from '../model/machine.ts';
import { collectBytes } from './collect-bytes.ts';
import { each } from './each.ts';
import { mendEvents } from './mend-events.ts';
import { filled } from './run.ts';

/** One batch of events per network chunk. */
export type Batch = readonly ModelEvent[];

/** The upstream's bytes → events. Where they break off comes an `error` event, behind the good ones. */
export const readEvents = (answered: Answered): OperatorFunction<Uint8Array, Batch> =>
  answered.answer.streamed ? readStream(answered) : readWhole(answered);

const readStream = ({ line, context }: Answered): OperatorFunction<Uint8Array, Batch> =>
  each(() => {
    const reading = chain(line.graph.readRecords.work, line.graph.decodeStream.work).start(context);
    const callIds = new Set<string>();
    return {
      next(chunk) {
        const events: ModelEvent[] = [];
        reading.step(chunk, events);
        return filled(mendEvents(events, callIds));
      },
      end() {
        const events: ModelEvent[] = [];
        reading.end(events);
        return filled(mendEvents(events, callIds));
      },
      failed: toErrorEvent,
    };
  });

/** A reply that isn't streamed is the same events in one batch. */
const readWhole = ({ line, context, answer }: Answered): OperatorFunction<Uint8Array, Batch> =>
  pipe(
    collectBytes(),
    map((bytes) => {
      const body = parseJson(new TextDecoder().decode(bytes));
      return isJsonObject(body)
        ? mendEvents(line.graph.decodeReply.work(body, context), new Set())
        : [errorEvent(notJson(bytes, answer.status))];
    }),
    catchError((error: unknown) => of(toErrorEvent(error))),
  );

/** The fault of a reply that can't be read at all. */
export const notJson = (body: Uint8Array, status: number): Fault => {
  const what = body.length === 0 ? 'an empty body' : 'a body that is no JSON object';
  return { kind: 'upstream-garbled', message: `The upstream answered with ${what} (status ${status}).` };
};

const toErrorEvent = (error: unknown): Batch => {
  if (error instanceof FaultError) return [errorEvent(error.fault)];
  throw error;
};

const errorEvent = (fault: Fault): ModelEvent => ({ type: 'error', fault });
