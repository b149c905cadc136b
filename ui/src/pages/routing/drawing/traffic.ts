import type { ConfigFile } from '../../../api/config/config-file.ts';
import type { Protocol } from '../../../api/protocols.ts';
import { ownRulesOf } from '../../../config/conditions.ts';
import { rules } from '../../../config/rules.ts';

/** What the graph looks at of a request. */
export interface RoutedRequest {
  readonly protocol: Protocol;
  readonly scenario?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly pool?: string;
  readonly failed: boolean;
}

/** The rules by which a request got its destination, other than by name. */
export const isRouted = (scenario: string): boolean =>
  scenario === 'module' || scenario.startsWith('rule/') || rules.some(({ name }) => name === scenario);

/** The node of the rule that decided: the scenario as summaries and explanations have it. */
export const ruleNode = (config: ConfigFile, scenario: string): string => {
  if (!isRouted(scenario)) return 'named';
  if (scenario === 'module') return 'module';
  if (!scenario.startsWith('rule/')) return `scenario/${scenario}`;
  return `rule/${ownRulesOf(config).findIndex(({ name }) => `rule/${String(name)}` === scenario)}`;
};

interface Counted {
  readonly requests: number;
  readonly failed: number;
}

const none: Counted = { requests: 0, failed: 0 };

const countBy = (requests: readonly RoutedRequest[], keyOf: (one: RoutedRequest) => string) => {
  const found = new Map<string, Counted>();
  for (const one of requests) {
    const key = keyOf(one);
    const before = found.get(key) ?? none;
    found.set(key, { requests: before.requests + 1, failed: before.failed + Number(one.failed) });
  }
  return (key: string): Counted => found.get(key) ?? none;
};

/** The latest requests, counted. Those by name are one box: what is counted at a destination came by a rule. */
export const trafficOf = (config: ConfigFile, requests: readonly RoutedRequest[]) => {
  const byName = requests.filter(({ scenario = '' }) => !isRouted(scenario));
  const routed = requests.filter(({ scenario = '' }) => isRouted(scenario));
  const modelIn = ({ provider = '', model = '' }: RoutedRequest): string => `${provider},${model}`;
  return {
    total: requests.length,
    /** From 0 to 1. */
    share: (count: number): number => (requests.length === 0 ? 0 : count / requests.length),
    ofClient: countBy(requests, ({ protocol }) => protocol),
    ofRule: countBy(requests, ({ scenario = '' }) => ruleNode(config, scenario)),
    ofModel: countBy(routed, modelIn),
    ofPool: countBy(
      requests.filter(({ pool }) => pool !== undefined),
      ({ pool = '' }) => pool,
    ),
    /** Models that requests named themselves. */
    named: new Set(byName.map(modelIn)).size,
  };
};
export type Traffic = ReturnType<typeof trafficOf>;
