import type { When } from '../../config/rule-schema.ts';
import { chanceOf, usualAnswer, yesOrNo } from '../../model/decision.ts';
import { quoted } from '../../model/fault.ts';

/** A condition's question to a model. */
export interface Decides {
  /** The caller: `rule/NAME`, or a stage. */
  readonly owner: string;
  /** The destination that is asked. */
  readonly ask: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly answer: string;
  readonly atLeast: number | undefined;
  readonly limitMs: number;
  readonly otherwise: boolean;
  /** The same for all conditions that ask the same. */
  readonly key: string;
}

/** Default time limit of an answer, in milliseconds. */
const usualLimitMs = 1_000;

/** The question of a condition's member, with its defaults. */
export const decidesOf = (
  {
    ask,
    question,
    answers = [...yesOrNo],
    answer = usualAnswer,
    atLeast,
    limitMs = usualLimitMs,
    otherwise = false,
  }: NonNullable<When['decides']>,
  owner: string,
): Decides => ({
  owner,
  ask: ask.trim(),
  question,
  answers,
  answer,
  atLeast,
  limitMs,
  otherwise,
  key: JSON.stringify([ask.trim(), question, answers]),
});

/** The outcome of a question. */
export type Decided =
  | {
      readonly type: 'answer';
      readonly answer: string;
      readonly probabilities?: Readonly<Record<string, number>> | undefined;
    }
  /** `isAsked`: not a dry run. `detail`: what the provider or the gateway says of it. */
  | { readonly type: 'none'; readonly isAsked: boolean; readonly why: string; readonly detail?: string };

/** Decisions of models about one request. */
export class Decisions {
  readonly #known = new Map<string, { readonly decides: Decides; readonly decided: Decided }>();
  /** The first question that the last evaluation needed and that isn't answered. */
  open: Decides | undefined;
  /** The last evaluation needed the count of tokens. */
  needsCount = false;

  /** Before an evaluation. */
  begin(): void {
    this.open = undefined;
    this.needsCount = false;
  }

  know(decides: Decides, decided: Decided): void {
    this.#known.set(decides.key, { decides, decided });
  }

  known({ key }: Decides): Decided | undefined {
    return this.#known.get(key)?.decided;
  }

  /** The question that is skipped in a dry run, for users. */
  unasked(): readonly string[] {
    return [...this.#known.values()].flatMap(({ decides: { ask, question }, decided }) =>
      decided.type === 'none' && !decided.isAsked
        ? [`${ask} was not asked ${quoted(shortened(question))}: this dry run goes on as without an answer.`]
        : [],
    );
  }

  /** Whether the model decides so; `undefined`: it has to be asked first. */
  verdict(decides: Decides): boolean | undefined {
    const decided = this.known(decides);
    if (decided) return verdictOf(decides, decided);
    this.open ??= decides;
    return undefined;
  }
}

/**
 * Whether an answer is what a condition wants. With a least probability, the answer's own counts, whichever the model prefers; the answer
 * alone doesn't show it.
 */
const verdictOf = ({ answer, atLeast, otherwise }: Decides, decided: Decided): boolean => {
  if (decided.type === 'none') return otherwise;
  const { probabilities } = decided;
  if (atLeast === undefined) return decided.answer === answer;
  if (probabilities) {
    const chance = chanceOf(probabilities, answer);
    return chance !== undefined && chance >= atLeast;
  }
  return decided.answer === answer && otherwise;
};

/** A condition's question, for users. */
export const decidesText = ({ ask, question, answer, atLeast }: Decides): string => {
  const least = atLeast === undefined ? '' : ` with at least ${atLeast}`;
  return `${ask} says ${quoted(answer)}${least} to ${quoted(shortened(question))}`;
};

/** The outcome of a question, for users. */
export const decidedText = ({ ask, question, answer, atLeast, otherwise }: Decides, decided: Decided): string => {
  const to = quoted(shortened(question));
  if (decided.type === 'none') return `${ask} gave no answer to ${to} (${decided.why}), otherwise ${otherwise}`;
  const chance = chanceOf(decided.probabilities, atLeast === undefined ? decided.answer : answer);
  const shown = atLeast === undefined || !decided.probabilities ? decided.answer : answer;
  if (atLeast !== undefined && !decided.probabilities) {
    return `${ask} says ${quoted(shown)} to ${to} without a probability, otherwise ${otherwise}`;
  }
  return `${ask} says ${quoted(shown)}${chance === undefined ? '' : ` (${chance.toFixed(2)})`} to ${to}`;
};

const maxShown = 80;

const shortened = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
