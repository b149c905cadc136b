import { isDeepStrictEqual } from 'node:util';
import type { Batch, ModelEvent } from '../model/event.ts';
import { quoted } from '../model/fault.ts';
import type { Tried } from './declared.ts';
import { TrialFailure } from './failure.ts';
import { joined } from './given.ts';
import { runTrial, type TrialOutcome } from './run-trial.ts';
import type { Trial } from './trial.ts';

/** The most places at which one answer is cut. */
const maxCuts = 2_000;

/**
 * Cuts the model's answers at every place, and compares what comes of them with what comes of the whole ones. Throws a `TrialFailure` that
 * names the first cut that makes a difference. Resolves with the number of cuts. `mayGoOn`: no further one is tried once it says no.
 */
export const cutEverywhere = async (trial: Trial, mayGoOn: () => boolean = () => true): Promise<number> => {
  const counted = { places: 0 };
  const plain = await runTrial(trial, {
    cut(batches) {
      counted.places = Math.max(counted.places, cutsOf(joined(batches)).length);
      return [joined(batches)];
    },
  });
  if (plain.failure) throw plain.failure;
  const whole = resultOf(plain.tried);
  const compare = async (how: string, cut: (batches: readonly Batch[]) => readonly Batch[]): Promise<void> => {
    assertSame(trial, whole, await runTrial(trial, { cut }), how);
  };
  await compare('comes once more, just the same', (batches) => [joined(batches)]);
  await compare('comes an event at a time', (batches) => batches.flat().map((event) => [event]));
  await compare('comes a character at a time', (batches) => joined(batches).flatMap(characters));
  let cuts = 0;
  for (const place of evenly(counted.places, maxCuts)) {
    if (!mayGoOn()) break;
    const shown = { how: '' };
    const cut = (batches: readonly Batch[]): readonly Batch[] => {
      const events = joined(batches);
      const at = cutsOf(events)[place];
      if (!at) return [events];
      if (shown.how === '') shown.how = wordsOf(events, at);
      return cutAt(events, at);
    };
    const outcome = await runTrial(trial, { cut });
    assertSame(trial, whole, outcome, shown.how);
    cuts += 1;
  }
  return cuts;
};

/** As many of the numbers below `count` as allowed, in equal steps. */
export const evenly = (count: number, most: number): readonly number[] =>
  Array.from({ length: Math.min(count, most) }, (_, index) => Math.floor((index * count) / Math.min(count, most)));

/** A place between two events, or between two characters of a delta. */
interface Cut {
  /** The index of the event after it, or of the delta. */
  readonly event: number;
  /** UTF-16 units of the delta before it; 0: before the event. */
  readonly character: number;
}

const cutsOf = (events: Batch): readonly Cut[] =>
  events.flatMap((event, index) => {
    let character = 0;
    return [...(index > 0 ? [''] : []), ...[...(textIn(event) ?? '')].slice(0, -1)].map((before) => {
      character += before.length;
      return { event: index, character };
    });
  });

const textIn = (event: ModelEvent): string | undefined => {
  if (event.type === 'text-delta' || event.type === 'thinking-delta') return event.text;
  return event.type === 'input-delta' ? event.json : undefined;
};

/** A delta with another text. */
const withText = (event: ModelEvent, text: string): ModelEvent => {
  if (event.type === 'text-delta' || event.type === 'thinking-delta') return { ...event, text };
  return event.type === 'input-delta' ? { ...event, json: text } : event;
};

const cutAt = (events: Batch, { event: index, character }: Cut): readonly Batch[] => {
  const event = events[index];
  if (!event || character === 0) return [events.slice(0, index), events.slice(index)];
  const text = textIn(event) ?? '';
  return [
    [...events.slice(0, index), withText(event, text.slice(0, character))],
    [withText(event, text.slice(character)), ...events.slice(index + 1)],
  ];
};

const characters = (event: ModelEvent): readonly Batch[] => {
  const text = textIn(event);
  return text === undefined ? [[event]] : [...text].map((one) => [withText(event, one)]);
};

/** Characters that are shown at each side of a cut. */
const shownCharacters = 20;

const wordsOf = (events: Batch, { event: index, character }: Cut): string => {
  const event = events[index];
  if (!event || character === 0) return `is cut before its event ${index + 1} (${event?.type})`;
  const text = textIn(event) ?? '';
  const [before, after] = [text.slice(0, character), text.slice(character)];
  return `is cut between ${quoted(before.slice(-shownCharacters))} and ${quoted(after.slice(0, shownCharacters))}`;
};

/** The part of an answer that doesn't depend on the cuts. */
const resultOf = ({ events, calls, fault, losses }: Tried) => ({
  events: joined(events.after),
  asked: calls.map(({ kind, to, request }) => ({ kind, to, request })),
  fault,
  losses,
});

const assertSame = (
  trial: Trial,
  whole: ReturnType<typeof resultOf>,
  { tried, failure }: TrialOutcome,
  how: string,
) => {
  const result = resultOf(tried);
  if (!failure && isDeepStrictEqual(result, whole)) return;
  const what = failure ? failure.message.replace(/\.$/, '') : difference(whole, result);
  throw new TrialFailure(`Transformer "${trial.name}" makes a difference if the model's answer ${how}: ${what}.`, {
    actual: result,
    expected: whole,
    ...(failure && { cause: failure }),
  });
};

/** The first difference, in a few words. */
const difference = (whole: ReturnType<typeof resultOf>, cut: ReturnType<typeof resultOf>): string => {
  if (!isDeepStrictEqual(whole.asked, cut.asked)) return 'it calls or asks for something else';
  if (!isDeepStrictEqual(whole.losses, cut.losses)) return 'it records other losses';
  const at = whole.events.findIndex((event, index) => !isDeepStrictEqual(event, cut.events[index]));
  const [expected, actual] = [whole.events[at], cut.events[at < 0 ? whole.events.length : at]];
  return `the client gets ${shownEvent(actual)} and not ${shownEvent(expected)}`;
};

const shownEvent = (event: ModelEvent | undefined): string => {
  if (!event) return 'nothing';
  const text = textIn(event);
  return text === undefined ? `${event.type} ${quoted(JSON.stringify(event))}` : quoted(text);
};
