import type { ConfigFile, Transformer } from '../../../api/config/config-file.ts';

import { isJsonObject } from '../../../api/json.ts';
import { type Protocol, protocols, protocolTitles, shortProtocolTitles } from '../../../api/protocols.ts';
import { askedBy, facts, joins, ownRulesOf, valueToTexts } from '../../../config/conditions.ts';
import { type Entry, entryOf, knownOf } from '../../../config/draft/entry.ts';
import { byDefault, fallbacksOf, routeOf, rules, scenarios } from '../../../config/rules.ts';
import { counted } from '../../../format/count.ts';

/** The columns of the drawing, in the order in which a request passes them. */
export const columns = ['client', 'rule', 'stage', 'destination'] as const;

/** A node of the drawing. Its id begins with what it is: `client/chat`, `rule/0`, `scenario/image`, `pool/0`, `to/p,model`. */
export interface RoutingNode {
  readonly id: string;
  readonly column: (typeof columns)[number];
  readonly title: string;
  readonly about: string;
  /** Its requests among the latest. */
  readonly requests: number;
  readonly failed: number;
  /** `off`: nothing leads on from here. `bad`: it can't serve. */
  readonly state?: 'off' | 'bad';
  /** A member of the pool above it. */
  readonly inset?: boolean;
  /** A stage's destination, in whose row it lies. */
  readonly row?: string;
  /** The stage is around the call to its destination. */
  readonly isAround?: boolean;
}

/** A way between two nodes; `junction` is where all clients meet. */
export interface RoutingLink {
  readonly from: string;
  readonly to: string;
  /** Only taken when the destination before it fails. */
  readonly isFallback: boolean;
  /** A stage may ask there. */
  readonly isAsk?: boolean;
  /** Of all latest requests, from 0 to 1. */
  readonly share: number;
}

/** What is drawn. */
export interface RoutingGraph {
  readonly nodes: readonly RoutingNode[];
  readonly links: readonly RoutingLink[];
  /** The latest requests. */
  readonly total: number;
}

/** What the graph looks at of a request. */
interface RoutedRequest {
  readonly protocol: Protocol;
  readonly scenario?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly pool?: string;
  readonly failed: boolean;
}

/** The rules by which a request got its destination, other than by name. */
const isRouted = (scenario: string): boolean =>
  scenario === 'module' || scenario.startsWith('rule/') || rules.some(({ name }) => name === scenario);

/** The node of the rule that decided: the scenario as summaries and explanations have it. */
const ruleNode = (config: ConfigFile, scenario: string): string => {
  if (!isRouted(scenario)) return 'named';
  if (scenario === 'module') return 'module';
  if (!scenario.startsWith('rule/')) return `scenario/${scenario}`;
  return `rule/${ownRulesOf(config).findIndex(({ name }) => `rule/${String(name)}` === scenario)}`;
};

const countBy = (requests: readonly RoutedRequest[], keyOf: (one: RoutedRequest) => string) => {
  const found = new Map<string, { requests: number; failed: number }>();
  for (const one of requests) {
    const key = keyOf(one);
    const before = found.get(key) ?? { requests: 0, failed: 0 };
    found.set(key, { requests: before.requests + 1, failed: before.failed + Number(one.failed) });
  }
  return (key: string) => found.get(key) ?? { requests: 0, failed: 0 };
};

/** No more destinations are added for being asked for by name. */
const mostRows = 40;

/** What leads somewhere: a rule with its destinations, the first before its fallbacks. */
interface Way {
  readonly node: RoutingNode;
  readonly to: readonly string[];
}

/** The graph of a configuration, with the traffic of the latest requests. */
export const graphOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  requests: readonly RoutedRequest[],
): RoutingGraph => {
  const total = requests.length;
  const ofClient = countBy(requests, ({ protocol }) => protocol);
  const ofRule = countBy(requests, ({ scenario = '' }) => ruleNode(config, scenario));
  const ofModel = countBy(requests, ({ provider = '', model = '' }) => `${provider},${model}`);
  const { Router = {}, Pools = [], Providers = [] } = config;

  const rule = (id: string, title: string, about: string, to: readonly string[]): Way => ({
    node: {
      id,
      column: 'rule',
      title,
      about,
      ...ofRule(id),
      ...(to.length === 0 && id !== 'named' && id !== 'module' && { state: 'off' as const }),
    },
    to,
  });
  const ways: readonly Way[] = [
    rule('named', 'By name', 'provider,model goes exactly there', []),
    ...(Router.module === undefined ? [] : [rule('module', 'Router module', moduleOf(Router.module), [])]),
    ...ownRulesOf(config).map((own, at) =>
      rule(
        `rule/${at}`,
        typeof own.name === 'string' && own.name !== '' ? own.name : 'New rule',
        conditionOf(own.when),
        valueToTexts(own.to).filter((to) => to !== ''),
      ),
    ),
    ...[...scenarios, byDefault].map((one) => {
      const first = routeOf(config, one);
      return rule(
        `scenario/${one.name}`,
        one.title,
        one.fits,
        first === '' ? [] : [first, ...fallbacksOf(config, one).filter((to) => to !== '')],
      );
    }),
  ];

  const rows: RoutingNode[] = [];
  const stages: RoutingNode[] = [];
  /** Where stages and the conditions of rules may ask, by their ids. */
  const asks = new Map(ownRulesOf(config).map((own, at) => [`rule/${at}`, [...new Set(askedBy(own.when ?? {}))]]));
  const addModel = (id: string, destination: string, isMember: boolean): void => {
    const comma = destination.indexOf(',');
    const [provider, model] = [destination.slice(0, comma), destination.slice(comma + 1)];
    const isKnown = comma > 0 && Providers.some(({ name }) => name === provider);
    rows.push({
      id,
      column: 'destination',
      title: model || destination,
      about: isKnown ? provider : `${provider || 'It'}: no such provider`,
      ...ofModel(destination),
      ...(!isKnown && { state: 'bad' as const }),
      ...(isMember && { inset: true }),
    });
    const own = stagesOf(config, transformers, provider, model);
    const around = aroundStagesOf(config, transformers, provider, model);
    asks.set(`stages/${id}`, [...new Set(around.flatMap(({ ask }) => ask))]);
    const [first, ...others] = own;
    if (first !== undefined)
      stages.push({
        id: `stages/${id}`,
        column: 'stage',
        title: others.length === 0 ? first : counted(own.length, 'stage'),
        about: [
          own.join(', '),
          ...around.map(textOfAround),
          ...conditionsOf(config, transformers, provider, model),
        ].join('\n'),
        ...(around.length > 0 && { isAround: true }),
        requests: 0,
        failed: 0,
        row: id,
      });
  };
  const known = new Set<string>();
  const addDestination = (destination: string): void => {
    if (known.has(destination)) return;
    known.add(destination);
    const at = Pools.findIndex(({ name }) => name === destination);
    const pool = Pools[at];
    if (!pool) {
      addModel(`to/${destination}`, destination, false);
      return;
    }
    const { name = '', strategy = 'weighted', members = [] } = pool;
    const chosen = requests.filter((one) => one.pool === name);
    const failed = chosen.filter((one) => one.failed).length;
    const about = `pool, ${strategy}`;
    rows.push({
      id: `pool/${at}`,
      column: 'destination',
      title: name || 'New pool',
      about,
      requests: chosen.length,
      failed,
    });
    for (const [index, { to = '' }] of members.entries()) addModel(`member/${at}/${index}`, to, true);
  };
  // In the order of the rules, so that few ways cross; what only a fallback names comes after it.
  for (const { to } of ways) if (to[0] !== undefined) addDestination(to[0]);
  for (const { to } of ways) for (const one of to.slice(1)) addDestination(one);
  for (const { name = '' } of Pools) addDestination(name);
  const named = new Map<string, number>();
  for (const { scenario = '', provider = '', model = '' } of requests) {
    if (isRouted(scenario) || !Providers.some(({ name }) => name === provider)) continue;
    const destination = `${provider},${model}`;
    if (known.size < mostRows) addDestination(destination);
    named.set(destination, (named.get(destination) ?? 0) + 1);
  }

  // Below all others: no rule leads to what only a stage asks. A destination that comes here may have such stages, too.
  for (const [, asked] of asks) for (const one of asked) if (known.size < mostRows) addDestination(one);

  const idOf = (destination: string): string => {
    const at = Pools.findIndex(({ name }) => name === destination);
    return at < 0 ? `to/${destination}` : `pool/${at}`;
  };
  const share = (count: number): number => (total === 0 ? 0 : count / total);
  const hasStage = new Set(stages.map(({ row }) => row));
  const entrance = (id: string): string => (hasStage.has(id) ? `stages/${id}` : id);
  const links: readonly RoutingLink[] = [
    ...protocols.map((one) => link(`client/${one}`, 'junction', share(ofClient(one).requests))),
    ...ways.map(({ node }) => link('junction', node.id, share(node.requests))),
    ...ways.flatMap(({ node, to }) =>
      [...new Set(to)].map((one, index) =>
        link(node.id, entrance(idOf(one)), index === 0 ? share(node.requests) : 0, index > 0),
      ),
    ),
    ...[...named].map(([destination, count]) => link('named', entrance(idOf(destination)), share(count))),
    ...stages.map(({ id, row = '' }) => link(id, row, share(rows.find((one) => one.id === row)?.requests ?? 0))),
    ...[...asks].flatMap(([id, asked]) => asked.map((one) => ({ ...link(id, idOf(one), 0), isAsk: true }))),
  ];
  const ids = new Set([...ways.map(({ node }) => node.id), ...rows.map(({ id }) => id), ...stages.map(({ id }) => id)]);
  return {
    nodes: [
      ...protocols.map((one) => ({
        id: `client/${one}`,
        column: 'client' as const,
        title: shortProtocolTitles[one],
        about: protocolTitles[one],
        ...ofClient(one),
      })),
      ...ways.map(({ node }) => node),
      ...stages,
      ...rows,
    ],
    links: links.filter(({ to }) => to === 'junction' || ids.has(to)),
    total,
  };
};

const link = (from: string, to: string, share: number, isFallback = false): RoutingLink => ({
  from,
  to,
  share,
  isFallback,
});

const moduleOf = (module: unknown): string => {
  if (typeof module === 'string') return module;
  return isJsonObject(module) && typeof module.path === 'string' ? module.path : 'no path yet';
};

/** The names of the facts that a condition looks at. */
const conditionOf = (when: unknown): string => {
  const titles = Object.keys(isJsonObject(when) ? when : {}).map(
    (name) => [...facts, ...joins].find((one) => one.name === name)?.title ?? name,
  );
  return titles.join(', ') || 'every request';
};

/** The stages that a destination's requests run through, in order. */
export const stagesOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly string[] => entriesFor(config, transformers, provider, model).map(nameOf);

/** Which requests the stages with a condition run for. */
const conditionsOf = (...of: Parameters<typeof stagesOf>): readonly string[] =>
  entriesFor(...of).flatMap((entry) =>
    entry.when === undefined ? [] : `${nameOf(entry)} runs only by its condition: ${conditionOf(entry.when)}`,
  );

const nameOf = ({ name, path }: Entry): string => name ?? path ?? '';

const entriesFor = (
  { transformers: entries = [] }: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly Entry[] =>
  entries.map(entryOf).filter((entry) => {
    const applies =
      (entry.provider === undefined || entry.provider === provider) &&
      (entry.models === undefined || entry.models.includes(model));
    return applies && knownOf(entry, transformers)?.kind !== 'format';
  });

/** The stages around a destination's calls, with what they may ask. */
export const aroundStagesOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly { readonly name: string; readonly ask: readonly string[] }[] =>
  entriesFor(config, transformers, provider, model).flatMap((entry) =>
    knownOf(entry, transformers)?.halves.around ? [{ name: nameOf(entry), ask: entry.ask ?? [] }] : [],
  );

/** What a stage around the call may do. */
export const textOfAround = ({ name, ask }: ReturnType<typeof aroundStagesOf>[number]): string =>
  ask.length === 0 ? `${name} is around the call` : `${name} is around the call and may ask ${ask.join(' and ')}`;

interface Served {
  readonly provider: string;
  readonly model: string;
}

/** What the drawing shows of a dry run. */
interface TriedRequest extends Served {
  readonly client: Protocol;
  readonly scenario: string;
  readonly pool: { readonly name: string } | null;
  readonly fallbacks: readonly Served[];
}

/** The nodes that a request passes, and those that would be asked if its destination failed. */
export const wayOf = (
  config: ConfigFile,
  { nodes }: RoutingGraph,
  { client, scenario, provider, model, pool, fallbacks }: TriedRequest,
): { readonly way: ReadonlySet<string>; readonly aside: ReadonlySet<string> } => {
  const { Pools = [] } = config;
  const at = Pools.findIndex(({ name }) => name === pool?.name);
  const idsOf = (destination: string): readonly string[] => {
    const member = Pools[at]?.members?.findIndex(({ to }) => to === destination) ?? -1;
    const id = member < 0 ? `to/${destination}` : `member/${at}/${member}`;
    return nodes.filter((node) => node.id === id || node.row === id).map((node) => node.id);
  };
  return {
    way: new Set([
      `client/${client}`,
      'junction',
      ruleNode(config, scenario),
      ...(pool ? [`pool/${at}`] : []),
      ...idsOf(`${provider},${model}`),
    ]),
    aside: new Set(fallbacks.flatMap((one) => idsOf(`${one.provider},${one.model}`))),
  };
};
