import { evenly } from './every-cut.ts';
import { TrialFailure } from './failure.ts';
import { ResourceWatch } from './resources.ts';
import { runTrial, type TrialOutcome } from './run-trial.ts';
import type { Trial } from './trial.ts';

/** The most points at which one answer is left. */
const maxPoints = 500;

/**
 * Runs the stage to its end, and leaves it at every point of that. Throws a `TrialFailure` that names the first point at which it leaves
 * something behind. Resolves with the number of points. `mayGoOn`: no further point is tried once it says no.
 */
export const leaveEverywhere = async (trial: Trial, mayGoOn: () => boolean = () => true): Promise<number> => {
  const whole = await watched(trial, undefined);
  const points = evenly(whole.points - 1, maxPoints);
  let tried = 0;
  for (const point of points) {
    if (!mayGoOn()) break;
    await watched(trial, point + 1);
    tried += 1;
  }
  return tried;
};

const watched = async (trial: Trial, leaveAt: number | undefined): Promise<TrialOutcome> => {
  const watch = new ResourceWatch();
  const outcome = await watch.run(() => runTrial(trial, leaveAt === undefined ? {} : { leaveAt }));
  const left = await watch.left(outcome.open);
  if (outcome.failure) throw outcome.failure;
  if (left.length === 0) return outcome;
  const when = outcome.left === undefined ? 'after its answer has ended' : `if its client goes once ${outcome.left}`;
  throw new TrialFailure(`Transformer "${trial.name}" leaves ${left.join(', ')} behind ${when}.`, {
    actual: left,
    expected: [],
  });
};
