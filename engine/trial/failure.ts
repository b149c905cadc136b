import { AssertionError } from 'node:assert';
import { placeOf } from '../config/custom/load-module.ts';
import { type Fault, messageOf } from '../model/fault.ts';

/** A stage isn't as it must be. Any test runner shows it as a failed assertion. */
export class TrialFailure extends AssertionError {
  constructor(
    message: string,
    { cause, ...values }: { readonly cause?: unknown; readonly actual?: unknown; readonly expected?: unknown } = {},
  ) {
    super({ message, operator: 'stage', ...values });
    if (cause !== undefined) this.cause = cause;
  }
}

/** The failure of a stage that has thrown, with what it threw, and where. */
export const failureOf = (fault: Fault, cause: unknown): TrialFailure => {
  if (cause === undefined) return new TrialFailure(fault.message);
  const place = placeOf(cause);
  const what = messageOf(cause);
  const why = fault.message.includes(what) ? '' : `: ${cause instanceof Error ? `${cause.name}: ` : ''}${what}`;
  const where = place === undefined ? '' : ` (${place})`;
  return new TrialFailure(`${fault.message.replace(/\.$/, '')}${why}${where}${isFrozen(cause) ? frozenHint : ''}`, {
    cause,
  });
};

/** V8's messages about a change of a frozen object. */
const isFrozen = (cause: unknown): boolean =>
  cause instanceof TypeError && /read only property|not extensible|Cannot delete property/.test(cause.message);

const frozenHint = '. It changes what it was given in place, and must change a copy';
