import type { Config, TransformerEntry } from '../../config/config.ts';
import type { When } from '../../config/rule-schema.ts';
import {
  type Condition,
  compileCondition,
  explainCondition,
  factsIn,
  holds,
  shownVerdict,
  statement,
} from './condition.ts';
import type { RequestFacts } from './request-facts.ts';

/** The conditions of the transformers' entries, compiled once per configuration. */
export type StageConditions = readonly StageCondition[];

interface StageCondition {
  readonly entry: TransformerEntry;
  /** The entry's position in the configuration's list. */
  readonly position: number;
  readonly condition: Condition;
}

/** Compiles the conditions of a configuration's entries, by `whenOf`; `undefined` if there are none. */
export const compileStageConditions = (
  { transformers }: Pick<Config, 'transformers'>,
  whenOf: (entry: TransformerEntry) => When | undefined,
): StageConditions | undefined => {
  const conditions = transformers.flatMap((entry, position) => {
    const when = whenOf(entry);
    return when ? [{ entry, position, condition: compileCondition(when, '', entry.name) }] : [];
  });
  return conditions.length > 0 ? conditions : undefined;
};

/** The positions of the entries whose conditions hold for a request; `undefined` if its tokens must be counted, or a model be asked first. */
export const positionsThatHold = (
  conditions: StageConditions,
  facts: RequestFacts,
): ReadonlySet<number> | undefined => {
  const positions = new Set<number>();
  for (const { position, condition } of conditions) {
    const verdict = holds(condition, facts);
    if (verdict === undefined) return undefined;
    if (verdict) positions.add(position);
  }
  return positions;
};

/** An entry's condition in a dry run. */
interface ExplainedCondition {
  readonly name: string;
  /** The entry's place in the configuration. */
  readonly entry: string;
  readonly holds: boolean;
  /** The facts that decide it, for users. */
  readonly because: string;
  readonly facts: readonly { readonly at: string; readonly says: string; readonly holds: boolean | null }[];
}

/** Explains a condition by the same facts by which it was decided. */
export const explainStageCondition = (
  { entry, position, condition }: StageCondition,
  facts: RequestFacts,
  holding: ReadonlySet<number> | undefined,
): ExplainedCondition => {
  const isHeld = holding?.has(position) ?? true;
  return {
    name: entry.name,
    entry: entry.at,
    holds: isHeld,
    because: explainCondition(isHeld ? condition : { type: 'not', of: failedPart(condition, facts) }, facts),
    facts: factsIn(condition).map((fact) => ({ at: fact.at, says: fact.label, holds: shownVerdict(fact, facts) })),
  };
};

/** The first part by which a condition doesn't hold. */
const failedPart = (condition: Condition, facts: RequestFacts): Condition => {
  if (condition.type !== 'all') return condition;
  const part = condition.of.find((one) => holds(one, facts) === false);
  return part ? failedPart(part, facts) : condition;
};

/** Whether a stage with this condition runs only for clients that want the calls of their answers judged. */
export const isForVerdicts = ({ safeguards, all = [] }: When): boolean =>
  safeguards === true || all.some(isForVerdicts);

/** An entry's condition, for users. */
export const conditionText = (when: When): string => statement(compileCondition(when));
