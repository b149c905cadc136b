import { concatMap, defer, EMPTY, from, isObservable, map, mergeMap, type Observable, of, reduce, timer } from 'rxjs';
import { eventProblem } from '../../model/checked/check-event.ts';
import { answerIn, chanceOf } from '../../model/decision.ts';
import {
  type Batch,
  type FinishReason,
  type MessageStart,
  type ModelEvent,
  mergeUsage,
  type Usage,
} from '../../model/event.ts';
import { FaultError, fail, Unusable } from '../../model/fault.ts';
import { type Json, parseJson } from '../../model/json/json.ts';
import { cutOff } from '../../model/reply.ts';
import type { ModelRequest } from '../../model/request.ts';
import type { Answer, Decision, WholeAnswer } from './around.ts';

/** An answer of one text, made up by a stage. */
export const answer = (text: string, { finish = 'end' }: { readonly finish?: FinishReason } = {}): Answer =>
  of([
    { type: 'message-start', id: '', model: '' },
    { type: 'block-start', index: 0, block: { type: 'text' } },
    ...(text === '' ? [] : [{ type: 'text-delta', index: 0, text } as const]),
    { type: 'block-stop', index: 0 },
    { type: 'message-stop', finish, usage: {} },
  ]);

/**
 * Kept events as an answer: at once, or an event every `pace` milliseconds. They may come as a memory gives them. Throws a `stage-failed`
 * fault that names the first value which isn't an event.
 */
export const replayEvents = (kept: Batch | Json, { pace }: { readonly pace?: number } = {}): Answer => {
  const events = eventsIn(kept);
  if (pace === undefined) return of(events);
  return from(events).pipe(
    concatMap((event, index) => (index === 0 ? of([event]) : timer(pace).pipe(map(() => [event])))),
  );
};

/** What a memory gives as events. Throws a `stage-failed` fault that names the first value which isn't one. */
export const eventsIn = (kept: unknown): Batch => {
  if (!Array.isArray(kept)) return fail('stage-failed', 'What was kept is no list of events.');
  const values: readonly unknown[] = kept;
  return values.map((value, index) => {
    if (isEvent(value)) return value;
    const { path, message } = eventProblem(value) ?? { path: '', message: 'must be an event' };
    return fail('stage-failed', `What was kept has no event at ${index}: ${path || 'it'} ${message}.`);
  });
};

const isEvent = (value: unknown): value is ModelEvent => eventProblem(value) === undefined;

/**
 * Collects an answer. Fails with a `FaultError` if it fails or has no end. Emits once.
 */
export const whole = (given: Answer): Observable<WholeAnswer> =>
  given.pipe(
    reduce<Batch, ModelEvent[]>((all, batch) => {
      for (const event of batch) all.push(event);
      return all;
    }, []),
    map(replyOf),
  );

/** The reply that complete events make. Throws a `FaultError` if they don't. */
export const replyOf = (events: Batch): WholeAnswer => {
  let text = '';
  let usage: Usage = {};
  let start: MessageStart | undefined;
  let isComplete = false;
  for (const event of events) {
    if (event.type === 'error') throw new FaultError(event.fault);
    if (event.type === 'message-start') start ??= event;
    if (event.type === 'text-delta') text += event.text;
    if (event.type === 'message-start' || event.type === 'message-stop') usage = mergeUsage(usage, event.usage ?? {});
    if (event.type === 'message-stop') isComplete = true;
  }
  if (!isComplete) throw new FaultError(cutOff);
  const route = (start && routes.get(start)) ?? start?.model ?? '';
  return { text, json: () => jsonIn(text), events, usage, route };
};

/** What an answer decides; `undefined`: none of the answers. */
export const decisionIn = (
  { text, events, usage, route }: WholeAnswer,
  answers: readonly string[],
): Decision | undefined => {
  const answer = answerIn(text, answers);
  if (answer === undefined) return undefined;
  const probabilities = events.find((event) => event.type === 'message-stop')?.probabilities;
  return {
    answer,
    ...(probabilities && { probability: chanceOf(probabilities, answer), probabilities }),
    usage,
    route,
  };
};

const routes = new WeakMap<MessageStart, string>();

/** Remembers which destination has begun an answer: events have the provider's own name of the model alone. */
export const noteRoute = (start: MessageStart, route: string): void => {
  routes.set(start, route);
};

/** The JSON value in a model's text: all of it, in a code block, or between other words. Throws if there is none. */
const jsonIn = (text: string): unknown => {
  const value = candidates(text)
    .map(parseJson)
    .find((parsed) => parsed !== undefined);
  return value === undefined ? fail('stage-failed', 'The answer holds no JSON.') : value;
};

const candidates = (text: string): readonly string[] => {
  const opening = text.search(/[[{]/);
  const closing = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'));
  const between = opening >= 0 && closing > opening ? [text.slice(opening, closing + 1)] : [];
  return [text, ...between];
};

/**
 * Holds an answer back until text or a call has come, so that an empty one can be asked for again: it completes without any events. Fails
 * as the answer does.
 */
export const untilContent = (given: Answer): Answer =>
  defer(() => {
    let held: Batch[] | undefined = [];
    return given.pipe(
      mergeMap((batch) => {
        if (!held) return of(batch);
        held.push(batch);
        if (!batch.some(isContent)) return EMPTY;
        const first = held.flat();
        held = undefined;
        return of(first);
      }),
    );
  });

const isContent = (event: ModelEvent): boolean => {
  if (event.type === 'text-delta') return event.text.trim() !== '';
  if (event.type !== 'block-start') return false;
  return event.block.type === 'tool-call' || event.block.type === 'opaque';
};

/** The text of the user's last turn; empty if it has none. */
export const lastText = ({ turns }: ModelRequest): string => {
  const last = turns.findLast(({ role }) => role === 'user');
  return (last?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
};

/** What a stage has returned as an answer; a custom module may return anything. Fails if it isn't one. */
export const answerOf = (given: unknown): Observable<Batch> => {
  if (isObservable(given)) return given as Answer;
  if (given instanceof Promise) return from(given).pipe(concatMap(answerOf));
  throw new Unusable('the stage returned something other than an answer');
};
