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
  /** Of stages: the destinations of one provider, one below the other, beside which they lie. */
  readonly rows?: readonly string[];
  /** Stages that are around the call to their destinations, or ask models for it. */
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
  /** Of a way through stages: the destination that it leads to, at whose height it passes them. */
  readonly row?: string;
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

/** No more destinations are added for being asked by a stage or a condition. */
const mostRows = 40;

/** What leads somewhere: a rule with its destinations, the first before its fallbacks. */
interface Way {
  readonly node: RoutingNode;
  readonly to: readonly string[];
}

/** The graph of a configuration, with the traffic of the latest requests: each destination once, named ones as one. */
export const graphOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  requests: readonly RoutedRequest[],
): RoutingGraph => {
  const total = requests.length;
  const ofClient = countBy(requests, ({ protocol }) => protocol);
  const ofRule = countBy(requests, ({ scenario = '' }) => ruleNode(config, scenario));
  // Those of requests by name are one box: numbers at a destination are those of its rules.
  const named = requests.filter(({ scenario = '' }) => !isRouted(scenario));
  const ofModel = countBy(
    requests.filter(({ scenario = '' }) => isRouted(scenario)),
    ({ provider = '', model = '' }) => `${provider},${model}`,
  );
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

  const asksOf = (destination: string): readonly string[] => {
    const [provider = '', model = ''] = partsOf(destination);
    return [...new Set(askingStagesOf(config, transformers, provider, model).flatMap(({ ask }) => ask))];
  };
  const idOf = idFinder(config);
  /** What has a row of its own: a model that no pool has, or a pool with its members. */
  const rowOf = (destination: string): string => {
    const id = idOf(destination);
    return id.startsWith('member/') ? `pool/${id.split('/')[1]}` : id;
  };
  // In the order of the rules, so that few ways cross; what only a fallback names comes after it.
  const order = new Set([
    ...ways.flatMap(({ to }) => to.slice(0, 1)).map(rowOf),
    ...ways.flatMap(({ to }) => to.slice(1)).map(rowOf),
    ...Pools.map((_, at) => `pool/${at}`),
  ]);
  /** Where stages and the conditions of rules may ask, by their ids. */
  const asks = new Map<string, readonly string[]>(
    ownRulesOf(config).map((own, at) => [`rule/${at}`, [...new Set(askedBy(own.when ?? {}))]]),
  );
  // Below all others: no rule leads to what is asked. A destination that comes here may have such stages, too.
  for (const asked of asks.values()) for (const one of asked) if (order.size < mostRows) order.add(rowOf(one));
  for (const id of order)
    for (const member of membersIn(config, id))
      for (const one of asksOf(member)) if (order.size < mostRows) order.add(rowOf(one));

  const rows: RoutingNode[] = [];
  const stages: (Omit<RoutingNode, 'rows'> & { readonly rows: string[]; readonly key: string })[] = [];
  const addModel = (id: string, destination: string): void => {
    const [provider = '', model = ''] = partsOf(destination);
    const isKnown = Providers.some(({ name }) => name === provider && destination.includes(','));
    // Half a name is being typed.
    const isUnfinished = !destination.includes(',');
    rows.push({
      id,
      column: 'destination',
      title: model || destination,
      about: isKnown ? provider : isUnfinished ? 'provider,model' : `${provider || 'It'}: no such provider`,
      ...ofModel(destination),
      ...(!isKnown && { state: isUnfinished ? ('off' as const) : ('bad' as const) }),
      ...(id.startsWith('member/') && { inset: true }),
    });
    const own = stagesOf(config, transformers, provider, model);
    const asking = askingStagesOf(config, transformers, provider, model);
    const [first, ...others] = own;
    if (first === undefined) return;
    const about = [own.join(', '), ...asking.map(textOfAsking), ...conditionsOf(config, transformers, provider, model)];
    const key = JSON.stringify([provider, id.startsWith('member/'), about]);
    const above = stages.at(-1);
    if (above?.key === key && above.rows.at(-1) === rows.at(-2)?.id) {
      above.rows.push(id);
      return;
    }
    const asked = asksOf(destination);
    asks.set(`stages/${id}`, asked);
    stages.push({
      id: `stages/${id}`,
      column: 'stage',
      title: others.length === 0 ? first : counted(own.length, 'stage'),
      about: about.join('\n'),
      ...(asking.length > 0 && { isAround: true }),
      requests: 0,
      failed: 0,
      rows: [id],
      key,
    });
  };
  for (const id of besideProvider([...order])) {
    const [kind, ...rest] = id.split('/');
    const [at, pool] = [Number(rest[0]), Pools[Number(rest[0])]];
    if (kind !== 'pool' || !pool) {
      addModel(id, rest.join('/'));
      continue;
    }
    const { name = '', strategy = 'weighted', members = [] } = pool;
    const chosen = requests.filter((one) => one.pool === name);
    const failed = chosen.filter((one) => one.failed).length;
    const about = `pool, ${strategy}`;
    rows.push({ id, column: 'destination', title: name || 'New pool', about, requests: chosen.length, failed });
    for (const [index, { to = '' }] of members.entries()) addModel(`member/${at}/${index}`, to);
  }
  if (named.length > 0) {
    const models = new Set(named.map(({ provider = '', model = '' }) => `${provider},${model}`));
    const about = counted(models.size, 'model');
    // Beside its rule.
    rows.unshift({ id: 'directly', column: 'destination', title: 'Named directly', about, ...ofRule('named') });
  }

  const share = (count: number): number => (total === 0 ? 0 : count / total);
  const stagesAt = new Map(stages.flatMap(({ id, rows: own }) => own.map((row) => [row, id] as const)));
  const lead = (from: string, id: string, of: number, isFallback = false): RoutingLink => {
    const stage = stagesAt.get(id);
    return { ...link(from, stage ?? id, of, isFallback), ...(stage !== undefined && { row: id }) };
  };
  const links: readonly RoutingLink[] = [
    ...protocols.map((one) => link(`client/${one}`, 'junction', share(ofClient(one).requests))),
    ...ways.map(({ node }) => link('junction', node.id, node.id === 'named' ? 0 : share(node.requests))),
    ...ways.flatMap(({ node, to }) =>
      [...new Set(to)].map((one, index) => lead(node.id, idOf(one), index === 0 ? share(node.requests) : 0, index > 0)),
    ),
    // As thin as a way without traffic: names are no part of the configuration.
    ...(named.length > 0 ? [link('named', 'directly', 0)] : []),
    ...[...stagesAt].map(([row, id]) => ({
      ...link(id, row, share(rows.find((one) => one.id === row)?.requests ?? 0)),
      row,
    })),
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

/** The parts of `provider,model`; a text without a comma is a provider. */
const partsOf = (destination: string): readonly string[] => {
  const [provider = '', ...model] = destination.split(',');
  return [provider, model.join(',')];
};

/** The node of a destination: a pool, the first member of a pool that is this model, or the model. */
const idFinder = ({ Pools = [] }: ConfigFile): ((destination: string) => string) => {
  const ids = new Map<string, string>();
  const add = (name: string, id: string): unknown => ids.has(name) || ids.set(name, id);
  for (const [at, { name = '' }] of Pools.entries()) add(name, `pool/${at}`);
  for (const [at, { members = [] }] of Pools.entries())
    for (const [index, { to = '' }] of members.entries()) add(to, `member/${at}/${index}`);
  return (destination) => ids.get(destination) ?? `to/${destination}`;
};

/** The models in a row: those of a pool, or itself. */
const membersIn = ({ Pools = [] }: ConfigFile, id: string): readonly string[] => {
  const [kind, ...rest] = id.split('/');
  return kind === 'pool' ? (Pools[Number(rest[0])]?.members ?? []).map(({ to = '' }) => to) : [rest.join('/')];
};

/** Brings the models of a provider together, each provider where its first one is: its stages are one box. */
const besideProvider = (ids: readonly string[]): readonly string[] => {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const key = id.startsWith('to/') ? (id.split(',')[0] ?? id) : id;
    groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  return [...groups.values()].flat();
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

/** The stages that are around a destination's calls, or ask models, with whom they may ask. */
export const askingStagesOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  provider: string,
  model: string,
): readonly { readonly name: string; readonly isAround: boolean; readonly ask: readonly string[] }[] =>
  entriesFor(config, transformers, provider, model).flatMap((entry) => {
    const { halves, asks = false } = knownOf(entry, transformers) ?? {};
    const isAround = halves?.around === true;
    return isAround || asks ? [{ name: nameOf(entry), isAround, ask: entry.ask ?? [] }] : [];
  });

/** What such a stage may do. */
export const textOfAsking = ({ name, isAround, ask }: ReturnType<typeof askingStagesOf>[number]): string => {
  const asked = ask.length === 0 ? '' : `may ask ${ask.join(' and ')}`;
  return `${name} ${[isAround && 'is around the call', asked].filter(Boolean).join(' and ') || 'has no model to ask'}`;
};

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
  const at = (config.Pools ?? []).findIndex(({ name }) => name === pool?.name);
  const idOf = idFinder(config);
  const idsOf = (destination: string): readonly string[] => {
    const member = config.Pools?.[at]?.members?.findIndex(({ to }) => to === destination) ?? -1;
    const id = member < 0 ? idOf(destination) : `member/${at}/${member}`;
    return nodes.filter((node) => node.id === id || node.rows?.includes(id)).map((node) => node.id);
  };
  return {
    way: new Set([
      `client/${client}`,
      'junction',
      ruleNode(config, scenario),
      ...(pool ? [`pool/${at}`] : []),
      ...(isRouted(scenario) ? idsOf(`${provider},${model}`) : ['directly']),
    ]),
    aside: new Set(fallbacks.flatMap((one) => idsOf(`${one.provider},${one.model}`))),
  };
};
