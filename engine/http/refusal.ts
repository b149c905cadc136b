import type { Fault } from '../model/fault.ts';

/** A request is not taken. */
export interface Refusal {
  readonly fault: Fault;
  /** The connection must not be used again: what else it brings can't be read, or isn't wanted. */
  readonly close: boolean;
}
