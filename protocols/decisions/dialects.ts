import { isYesOrNo, usualAnswer } from '../../engine/model/decision.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';
import type { DecisionQuestion } from '../../engine/model/request.ts';

/** A vendor's answer to one question. */
interface WireDecision {
  /** `undefined`: the model declines to answer. */
  readonly answer: string | undefined;
  readonly probabilities: Readonly<Record<string, number>>;
}

/** One format for decisions: its questions and its answers. */
interface DecisionDialect {
  /** Its path below a base URL, which is also its version's. */
  readonly path: string;
  readonly encode: (model: string, decision: DecisionQuestion) => JsonObject;
  /** `undefined`: it can't be read. */
  readonly decode: (reply: JsonObject, decision: DecisionQuestion) => WireDecision | undefined;
}

/** The name of the only question of a request. */
const name = 'decision';

/**
 * OpenAI's Decisions: text and a list of questions, answered in their order. Source: openai-python 3270213, `types/decision_create_params.py`,
 * and 07bef2b, `types/decision.py` (public beta, October 2026).
 */
const decisions: DecisionDialect = {
  path: '/v1/decisions',
  encode: (model, { question: instructions, answers, about }) => ({
    model,
    input: about,
    questions: [
      isYesOrNo(answers)
        ? { type: 'predicate', name, instructions }
        : { type: 'choice', name, instructions, choices: answers.map((value) => ({ value })) },
    ],
  }),
  decode({ answers: given }, { answers }) {
    const [found] = Array.isArray(given) ? given.filter(isJsonObject) : [];
    if (found?.type === 'refusal') return { answer: undefined, probabilities: {} };
    if (found?.type === 'predicate') return byChance(found.probability, answers);
    if (found?.type !== 'choice' || typeof found.choice !== 'string') return undefined;
    const rows = Array.isArray(found.probabilities) ? found.probabilities.filter(isJsonObject) : [];
    return {
      answer: found.choice,
      probabilities: chancesIn(rows.map(({ value, probability }) => [value, probability])),
    };
  },
};

/**
 * TypeSafe's System One, which Jev and others speak, at OpenRouter and Ollama too: a state and questions by name. Source: the types that
 * typesafe-sdk-python f307bce generates from `api.typesafe.ai/openapi.json` (September 2026).
 */
const systemone: DecisionDialect = {
  path: '/v1/systemone',
  encode: (model, { question: instructions, answers, about }) => ({
    model,
    state: about,
    questions: {
      [name]: isYesOrNo(answers)
        ? { type: 'noul', instructions }
        : { type: 'choice', instructions, criteria: Object.fromEntries(answers.map((answer) => [answer, null])) },
    },
  }),
  decode({ answers: given }, { answers }) {
    const found = isJsonObject(given) ? given[name] : undefined;
    if (!isJsonObject(found)) return undefined;
    if (found.type === 'noul') return byChance(found.noul, answers);
    if (found.type !== 'choice' || typeof found.choice !== 'string') return undefined;
    return { answer: found.choice, probabilities: chancesIn(Object.entries(Object(found.probabilities))) };
  },
};

/** The formats of decision models, by their names in a configuration. */
export const dialects = { decisions, systemone } as const;
export type DecisionApi = keyof typeof dialects;

/** A question of yes or no: its answer is the likelier one. */
const byChance = (chance: Json | undefined, answers: readonly string[]): WireDecision | undefined => {
  const [yes] = answers.filter((answer) => answer === usualAnswer);
  const [no] = answers.filter((answer) => answer !== usualAnswer);
  if (!isChance(chance) || yes === undefined || no === undefined) return undefined;
  return { answer: chance >= 0.5 ? yes : no, probabilities: { [yes]: chance, [no]: 1 - chance } };
};

/** A value that can't be a probability is absent. */
const chancesIn = (entries: readonly (readonly [unknown, unknown])[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    entries.filter((entry): entry is readonly [string, number] => typeof entry[0] === 'string' && isChance(entry[1])),
  );

const isChance = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;
