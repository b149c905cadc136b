import type { Config, RouteRule } from '../../config/config.ts';
import { ruleRoute } from '../../config/sections/clients.ts';
import { type Destination, findDestination, type KnownDestinations } from '../../config/sections/destination.ts';
import { type Condition, compileCondition, explainCondition, factsIn, holds, shownVerdict } from './condition.ts';
import { type RequestFacts, trajectoriesOf } from './request-facts.ts';

/** The user's rules, compiled once per configuration. */
export type CompiledRules = readonly CompiledRule[];

interface CompiledRule {
  readonly rule: RouteRule;
  readonly condition: Condition;
}

/** Compiles the rules of a configuration; `undefined` if there are none. */
export const compileRules = ({ router }: Pick<Config, 'router'>): CompiledRules | undefined =>
  router.rules?.map((rule) => ({ rule, condition: compileCondition(rule.when, '', `${ruleRoute}${rule.name}`) }));

/** The destination that a rule or the module of the user's own gives a request. */
export interface OwnRoute extends Destination {
  readonly scenario: 'module' | `rule/${string}`;
  readonly reason: string;
  /** Further destinations of a module's answer, for when this one fails; absent: those of the rule, or the default's. */
  readonly others?: readonly string[];
}

/** The result of the user's own rules for a request. */
export interface RuleResult {
  /** `undefined`: no rule matches. */
  readonly route: OwnRoute | undefined;
  readonly warnings: readonly string[];
}

/**
 * Finds the first rule that matches. A rule whose destination can't be resolved is skipped with a warning. `undefined` if the tokens must
 * be counted, or a model be asked first.
 */
export const matchRules = (
  rules: CompiledRules,
  facts: RequestFacts,
  known: KnownDestinations,
): RuleResult | undefined => {
  const warnings: string[] = [];
  for (const { rule, condition } of rules) {
    const step = momentOf({ rule, condition }, facts);
    const verdict = holds(condition, step);
    if (verdict === undefined) return undefined;
    if (!verdict) continue;
    const [to] = rule.to;
    const found = findDestination(known, to, facts.request.model);
    const scenario = `${ruleRoute}${rule.name}` as const;
    if (found) {
      const reason = `${scenario}: ${explainCondition(condition, step) || 'any request'}${step === facts ? '' : ', earlier in this turn of the user'}`;
      return { route: { ...found, scenario, reason }, warnings };
    }
    warnings.push(`the rule ${rule.name} leads nowhere: ${to}`);
  }
  return { route: undefined, warnings };
};

/**
 * The facts by which a rule is judged: those of the request, or for a rule that holds on, those of the first request since the user last
 * spoke for which it held. Only the trajectory differs between them, so this is linear, too.
 */
const momentOf = ({ rule, condition }: CompiledRule, facts: RequestFacts): RequestFacts => {
  if (rule.hold !== 'turn' || holds(condition, facts)) return facts;
  for (const trajectory of trajectoriesOf(facts)) {
    const earlier = { ...facts, trajectory };
    if (holds(condition, earlier)) return earlier;
  }
  return facts;
};

/** One rule in a dry run: whether it matches, and which of its facts hold; null: it depends on the token count, or on a model that wasn't asked. */
type ExplainedRule = {
  readonly name: string;
  readonly matches: boolean | null;
  readonly facts: readonly { readonly at: string; readonly says: string; readonly holds: boolean | null }[];
};

/** Explains the rules up to the first that matches. */
export const explainRules = (rules: CompiledRules, facts: RequestFacts): readonly ExplainedRule[] => {
  const rows: ExplainedRule[] = [];
  for (const { rule, condition } of rules) {
    const step = momentOf({ rule, condition }, facts);
    const matches = holds(condition, step);
    rows.push({
      name: rule.name,
      matches: matches ?? null,
      facts: factsIn(condition).map((fact) => ({ at: fact.at, says: fact.label, holds: shownVerdict(fact, step) })),
    });
    if (matches) break;
  }
  return rows;
};
