import type { Fault } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Reply } from '../model/reply.ts';

/** The call to the provider, in its format. */
export interface Sent {
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** The stages that its answer passes. */
  readonly stages: readonly string[];
  /** Tokens of the prompt, as the gateway guesses them. */
  readonly estimate: number;
}

/** The outcome of a request. */
export type ProbeOutcome = Unsent | RefusedProbe | Replied;

/** The gateway itself refuses it, as it is configured. */
interface Unsent {
  readonly type: 'unsent';
  readonly fault: Fault;
}

/** There is no whole answer: the provider refused the call, broke its answer off, or can't be reached. */
export interface RefusedProbe extends Received {
  readonly type: 'refused';
  readonly sent: Sent;
  readonly fault: Fault;
}

export interface Replied extends Received {
  readonly type: 'replied';
  readonly sent: Sent;
  readonly reply: Reply;
  /** Pieces in which arguments of calls came. */
  readonly pieces: number;
  /** The broken rules of the wire format, worded for users. */
  readonly violations: readonly string[];
  /** Milliseconds to the first and to the last bytes. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The provider's answer, as far as it is kept, without secrets. */
interface Received {
  readonly text: string;
}
