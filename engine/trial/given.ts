import { from } from 'rxjs';
import type { ReplyContext } from '../model/context.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import { validateOrder } from '../operators/validate-order.ts';
import type { GivenAnswer } from './declared.ts';
import { TrialFailure } from './failure.ts';

/** The batches of a given answer. Throws a `TrialFailure` that names the first event which can't be one. */
export const batchesOf = (given: GivenAnswer, place: string, context: ReplyContext): readonly Batch[] => {
  if (typeof given === 'string') return textBatches(given);
  if (!Array.isArray(given)) throw new TrialFailure(`${place} must be a text or a list of events.`);
  const listed: readonly (ModelEvent | Batch)[] = given;
  const batches = listed.map((item) => (Array.isArray(item) ? item : [item]));
  let problem: string | undefined;
  const note = (what: string, at: number): Fault => {
    problem = `${place}, event ${at}, isn't what a provider's can be: it ${what}.`;
    return { kind: 'internal', message: problem };
  };
  from(batches).pipe(validateOrder(context, note)).subscribe();
  if (problem !== undefined) throw new TrialFailure(problem);
  return batches;
};

/** An answer of one text, a word at a time. */
const textBatches = (text: string): readonly Batch[] => [
  [
    { type: 'message-start', id: 'answer', model: 'model' },
    { type: 'block-start', index: 0, block: { type: 'text' } },
  ],
  ...text
    .split(/(?<= )/)
    .flatMap((word) => (word === '' ? [] : [[{ type: 'text-delta', index: 0, text: word } as const]])),
  [
    { type: 'block-stop', index: 0 },
    { type: 'message-stop', finish: 'end', usage: {} },
  ],
];

/** The events of an answer in one batch, with deltas as long as they can be. */
export const joined = (batches: readonly Batch[]): Batch => {
  const events: ModelEvent[] = [];
  for (const event of batches.flat()) {
    const last = events.at(-1);
    const longer = last && joinedDelta(last, event);
    if (longer) events[events.length - 1] = longer;
    else events.push(event);
  }
  return events;
};

/** Two deltas as one; `undefined`: they can't be. */
const joinedDelta = (first: ModelEvent, second: ModelEvent): ModelEvent | undefined => {
  if (first.type === 'input-delta')
    return second.type === 'input-delta' && first.index === second.index
      ? { ...first, json: first.json + second.json }
      : undefined;
  if (first.type !== 'text-delta' && first.type !== 'thinking-delta') return undefined;
  return second.type === first.type && first.index === second.index
    ? { ...first, text: first.text + second.text }
    : undefined;
};
