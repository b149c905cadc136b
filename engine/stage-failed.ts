import { FaultError } from './model/fault.ts';

/** The fault of a stage that went wrong, under its name; one that it threw on purpose stays what it is. */
export const stageFailed = (name: string, what: string, cause?: unknown): FaultError =>
  cause instanceof FaultError
    ? cause
    : new FaultError(
        { kind: 'stage-failed', message: `Transformer "${name}" ${what}.` },
        cause === undefined ? {} : { cause },
      );
