import type { Fault } from '../model/fault.ts';

/** One try that came to nothing. */
export interface FailedAttempt {
  readonly provider: string;
  readonly model: string;
  /** The upstream's status, else what went wrong in one word: `503`, `cut`, `breaker_open`. */
  readonly outcome: string;
}

/** A fault in one word, the more exact the better: a status, a code of ours, or its kind. */
export const outcomeOf = ({ kind, status, code }: Fault): string => {
  if (kind === 'unavailable' && code !== undefined) return code;
  return status === undefined ? reasonOf(kind) : String(status);
};

/** A fault's kind without the words that all have in common; a short closed list, fit for a counter's label. */
export const reasonOf = (kind: Fault['kind']): string => kind.replace(/^upstream-/, '');
