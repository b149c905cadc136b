import { kept } from './kept.ts';
import { createStore } from './store.ts';

/** What the first-run guide remembers in this browser. */
interface FirstRun {
  /** The gateway was seen without a provider of the user's own. */
  readonly started: boolean;
  /** A connection test succeeded. */
  readonly tested: boolean;
  /** The guide was closed, or is complete. */
  readonly closed: boolean;
}

const place = kept('local', 'first-run');

const read = (): FirstRun => {
  const words = (place.read() ?? '').split(' ');
  return { started: words.includes('started'), tested: words.includes('tested'), closed: words.includes('closed') };
};

/** The state of the first-run guide. */
export const firstRun = createStore<FirstRun>(read());

/** Remembers a step of the first run. */
export const noteFirstRun = (step: keyof FirstRun): void => {
  const before = firstRun.get();
  if (before[step]) return;
  const next = { ...before, [step]: true };
  place.write(
    Object.entries(next)
      .flatMap(([name, done]) => (done ? [name] : []))
      .join(' '),
  );
  firstRun.set(next);
};
