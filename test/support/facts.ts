/**
 * What a client learns from one response, for any protocol. The grammar checks yield it from a stream or a reply body, and
 * tests compare it with the recorded facts.
 */
export interface Facts {
  /** All visible text, concatenated. */
  readonly text: string;
  /** All readable reasoning, concatenated. */
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly FactCall[];
  /** The wire's own stop word (`end_turn`, `stop`, `completed`, `max_output_tokens` …); empty when there is none. */
  readonly stop: string;
  readonly usage: FactUsage | undefined;
  /** Reasoning payloads, as the client gets them, in order. */
  readonly signatures: readonly string[];
  readonly model: string;
  readonly id: string;
  /** The message of the error that ended the answer. */
  readonly error: string | undefined;
}

export interface FactCall {
  readonly id: string;
  readonly name: string;
  /** Parsed; the raw text when it doesn't parse. */
  readonly input: unknown;
}

/** Token counts; `prompt` is the whole prompt, cached tokens included once. */
export interface FactUsage {
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Thrown by a reader: the answer breaks its protocol's rules. */
export class GrammarError extends Error {
  override readonly name = 'GrammarError';
  /** The rule that is broken, if the grammar has it. */
  readonly rule: string | undefined;

  constructor(message: string, rule?: string) {
    super(message);
    this.rule = rule;
  }
}

export const must = (condition: boolean, message: string): void => {
  if (!condition) throw new GrammarError(message);
};
