import type { ConfigFile, Transformer } from '../../../api/config/config-file.ts';
import { isJsonObject } from '../../../api/json.ts';
import { type Protocol, protocols, protocolTitles, shortProtocolTitles } from '../../../api/protocols.ts';
import { askedBy, ownRulesOf, valueToTexts } from '../../../config/conditions.ts';
import { byDefault, fallbacksOf, routeOf, scenarios } from '../../../config/rules.ts';
import { counted } from '../../../format/figures.ts';
import { askingStagesOf, conditionOf, conditionsOf, stagesOf, textOfAsking } from './stages-of.ts';
import { isRouted, type RoutedRequest, ruleNode, type Traffic, trafficOf } from './traffic.ts';

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
  const traffic = trafficOf(config, requests);
  const ways = waysOf(config, traffic);
  const rows: RoutingNode[] = [];
  const stages: StageNode[] = [];
  for (const row of rowsIn(config, orderOf(config, transformers, ways), traffic)) {
    const stage = row.to === undefined ? undefined : stageOf(config, transformers, row.node.id, row.to);
    const above = stages.at(-1);
    // The same stages of the row above are one box with these.
    if (stage && above?.key === stage.key && above.rows.at(-1) === rows.at(-1)?.id) above.rows.push(row.node.id);
    else if (stage) stages.push({ ...stage, rows: [row.node.id] });
    rows.push(row.node);
  }
  if (traffic.named > 0) {
    const about = counted(traffic.named, 'model');
    // Beside its rule.
    rows.unshift({
      id: 'directly',
      column: 'destination',
      title: 'Named directly',
      about,
      ...traffic.ofRule('named'),
    });
  }
  const clients = protocols.map((one) => ({
    id: `client/${one}`,
    column: 'client' as const,
    title: shortProtocolTitles[one],
    about: protocolTitles[one],
    ...traffic.ofClient(one),
  }));
  const nodes = [
    ...clients,
    ...ways.map(({ node }) => node),
    ...stages.map(({ node, rows: at }) => ({ ...node, rows: at })),
    ...rows,
  ];
  const ids = new Set(['junction', ...nodes.map(({ id }) => id)]);
  return {
    nodes,
    links: linksOf(config, ways, stages, rows, traffic).filter(({ to }) => ids.has(to)),
    total: traffic.total,
  };
};

const waysOf = (config: ConfigFile, { ofRule }: Traffic): readonly Way[] => {
  const { module } = config.Router ?? {};
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
  return [
    rule('named', 'By name', 'provider,model goes exactly there', []),
    ...(module === undefined ? [] : [rule('module', 'Router module', moduleOf(module), [])]),
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
};

/** Where the condition of each rule may ask. */
const conditionsAskedIn = (config: ConfigFile): readonly (readonly string[])[] =>
  ownRulesOf(config).map((own) => [...new Set(askedBy(own.when ?? {}))]);

/** Where the stages of a destination may ask. */
const askedFor = (config: ConfigFile, transformers: readonly Transformer[], to: string): readonly string[] => {
  const [provider = '', model = ''] = partsOf(to);
  return [...new Set(askingStagesOf(config, transformers, provider, model).flatMap(({ ask }) => ask))];
};

/** The ids of what has a row of its own, from the top: a model that no pool has, or a pool with its members. */
const orderOf = (config: ConfigFile, transformers: readonly Transformer[], ways: readonly Way[]): readonly string[] => {
  const idOf = idFinder(config);
  const rowOf = (destination: string): string => {
    const id = idOf(destination);
    return id.startsWith('member/') ? `pool/${id.split('/')[1]}` : id;
  };
  // In the order of the rules, so that few ways cross; what only a fallback names comes after it.
  const order = new Set([
    ...ways.flatMap(({ to }) => to.slice(0, 1)).map(rowOf),
    ...ways.flatMap(({ to }) => to.slice(1)).map(rowOf),
    ...(config.Pools ?? []).map((_, at) => `pool/${at}`),
  ]);
  const add = (asked: readonly string[]): void => {
    for (const one of asked) if (order.size < mostRows) order.add(rowOf(one));
  };
  // Below all others: no rule leads to what is asked. A destination that comes here may have such stages, too.
  for (const asked of conditionsAskedIn(config)) add(asked);
  for (const id of order) for (const member of membersIn(config, id)) add(askedFor(config, transformers, member));
  return besideProvider([...order]);
};

/** A destination, and what it is called in the configuration; absent: a pool, whose members follow. */
interface Row {
  readonly node: RoutingNode;
  readonly to?: string;
}

const rowsIn = (config: ConfigFile, order: readonly string[], { ofPool, ofModel }: Traffic): readonly Row[] =>
  order.flatMap((id): readonly Row[] => {
    const [kind, ...rest] = id.split('/');
    const [at, pool] = [Number(rest[0]), config.Pools?.[Number(rest[0])]];
    if (kind !== 'pool' || !pool) return [modelRow(config, id, rest.join('/'), ofModel)];
    const { name = '', strategy = 'weighted', members = [] } = pool;
    const about = `pool, ${strategy}`;
    return [
      { node: { id, column: 'destination', title: name || 'New pool', about, ...ofPool(name) } },
      ...members.map(({ to = '' }, index) => modelRow(config, `member/${at}/${index}`, to, ofModel)),
    ];
  });

const modelRow = ({ Providers = [] }: ConfigFile, id: string, to: string, ofModel: Traffic['ofModel']): Row => {
  const [provider = '', model = ''] = partsOf(to);
  // Half a name is being typed.
  const isUnfinished = !to.includes(',');
  const isKnown = !isUnfinished && Providers.some(({ name }) => name === provider);
  return {
    to,
    node: {
      id,
      column: 'destination',
      title: model || to,
      about: isKnown ? provider : isUnfinished ? 'provider,model' : `${provider || 'It'}: no such provider`,
      ...ofModel(to),
      ...(!isKnown && { state: isUnfinished ? 'off' : 'bad' }),
      ...(id.startsWith('member/') && { inset: true }),
    },
  };
};

/** The stages of destinations that lie one below the other. */
interface StageNode {
  readonly node: RoutingNode;
  /** The ids of the destinations. */
  readonly rows: string[];
  /** Differs where the stages do. */
  readonly key: string;
  /** Where they may ask. */
  readonly asked: readonly string[];
}

const stageOf = (
  config: ConfigFile,
  transformers: readonly Transformer[],
  id: string,
  to: string,
): Omit<StageNode, 'rows'> | undefined => {
  const [provider = '', model = ''] = partsOf(to);
  const own = stagesOf(config, transformers, provider, model);
  const [first, ...others] = own;
  if (first === undefined) return undefined;
  const asking = askingStagesOf(config, transformers, provider, model);
  const about = [own.join(', '), ...asking.map(textOfAsking), ...conditionsOf(config, transformers, provider, model)];
  return {
    node: {
      id: `stages/${id}`,
      column: 'stage',
      title: others.length === 0 ? first : counted(own.length, 'stage'),
      about: about.join('\n'),
      ...(asking.length > 0 && { isAround: true }),
      requests: 0,
      failed: 0,
    },
    key: JSON.stringify([provider, id.startsWith('member/'), about]),
    asked: askedFor(config, transformers, to),
  };
};

const linksOf = (
  config: ConfigFile,
  ways: readonly Way[],
  stages: readonly StageNode[],
  rows: readonly RoutingNode[],
  { share, ofClient, named }: Traffic,
): readonly RoutingLink[] => {
  const idOf = idFinder(config);
  const stagesAt = new Map(stages.flatMap(({ node, rows: at }) => at.map((row) => [row, node.id] as const)));
  const lead = (from: string, id: string, of: number, isFallback = false): RoutingLink => {
    const stage = stagesAt.get(id);
    return { ...link(from, stage ?? id, of, isFallback), ...(stage !== undefined && { row: id }) };
  };
  const asks = (from: string, asked: readonly string[]): readonly RoutingLink[] =>
    asked.map((one) => ({ ...link(from, idOf(one), 0), isAsk: true }));
  return [
    ...protocols.map((one) => link(`client/${one}`, 'junction', share(ofClient(one).requests))),
    ...ways.map(({ node }) => link('junction', node.id, node.id === 'named' ? 0 : share(node.requests))),
    ...ways.flatMap(({ node, to }) =>
      [...new Set(to)].map((one, index) => lead(node.id, idOf(one), index === 0 ? share(node.requests) : 0, index > 0)),
    ),
    // As thin as a way without traffic: names are no part of the configuration.
    ...(named > 0 ? [link('named', 'directly', 0)] : []),
    ...[...stagesAt].map(([row, id]) => ({
      ...link(id, row, share(rows.find((one) => one.id === row)?.requests ?? 0)),
      row,
    })),
    ...conditionsAskedIn(config).flatMap((asked, at) => asks(`rule/${at}`, asked)),
    ...stages.flatMap(({ node, asked }) => asks(node.id, asked)),
  ];
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
