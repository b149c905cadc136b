import Type from 'typebox';
import type { Config, Pool, Provider } from '../../engine/config/config.ts';
import { showReferencesIn } from '../../engine/config/env.ts';
import { findProvider, poolDestination } from '../../engine/config/sections/destination.ts';
import { fail } from '../../engine/model/fault.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import { probeRequest } from '../../engine/model/request.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { type NamedRoute, namedRoutes } from '../../engine/routing/model-names.ts';
import { showPlan } from '../../engine/routing/plan/plan.ts';
import { emptyPromptSize, namesDestination, resolveRoute } from '../../engine/routing/resolve.ts';
import { unknownOrigin } from '../../engine/routing/rules/request-facts.ts';
import { matchRules } from '../../engine/routing/rules/rules.ts';
import { jsonOperation } from '../endpoint.ts';
import { PlanGraph } from '../schema.ts';

/**
 * `GET /api/graph`: the transformer graphs of requests. `model` alone routes like a client's request; `provider` and `model`
 * name a destination; neither: all configured routes. `client` selects a client protocol.
 */
export const graphOperations = (gateway: () => Gateway, clients: readonly ClientProtocol[]) => ({
  graph: jsonOperation({
    summary: 'The steps that requests run through',
    says: 'One graph for each client protocol and route.',
    reply: Type.Object({ graphs: Type.Array(PlanGraph) }),
    query: {
      client: Type.String({ description: 'One client protocol.' }),
      provider: Type.String({ description: 'One provider; needs `model`.' }),
      model: Type.String({ description: 'A model, as a request would name it.' }),
    },
    answer: ({ query, startedAtMs }) => {
      const current = gateway();
      const graphs = draw(new URLSearchParams(query), current, clients, startedAtMs);
      return showReferencesIn(current.config.referred, { graphs });
    },
  }),
});

const draw = (query: URLSearchParams, gateway: Gateway, clients: readonly ClientProtocol[], atMs: number) => {
  const wanted = query.get('client');
  const chosen = clients.filter(({ wire }) => wanted === null || wire === wanted);
  if (chosen.length === 0) {
    fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`);
  }
  const [name, model] = [query.get('provider'), query.get('model')];
  if (name === null && model !== null) {
    return chosen.flatMap((client) => graphsOf([routeByModel(model, client, gateway, atMs)], [client], gateway));
  }
  return graphsOf(routesFor(name, model, gateway), chosen, gateway);
};

const graphsOf = (routes: readonly NamedRoute[], clients: readonly ClientProtocol[], { config, planFor }: Gateway) =>
  linesOf(routes, config).flatMap(({ provider, model, routes: names, pools }) =>
    clients.map((client) => ({ ...showPlan(planFor({ client, provider, model }), names), pools })),
  );

/** A destination with all that leads to it. */
interface Line {
  readonly provider: Provider;
  readonly model: string;
  readonly routes: string[];
  readonly pools: PoolUse[];
}

type PoolUse = Pick<Pool, 'name' | 'strategy'> & { readonly weight: number; readonly routes: readonly string[] };

/** The destinations of routes, each once; a pool stands for its members. */
const linesOf = (routes: readonly NamedRoute[], { providers }: Config): readonly Line[] => {
  const lines = new Map<string, Line>();
  const lineTo = (provider: Provider, model: string): Line => {
    const name = `${provider.name},${model}`;
    const line = lines.get(name) ?? { provider, model, routes: [], pools: [] };
    lines.set(name, line);
    return line;
  };
  for (const { provider, model, pool, routes: names } of routes) {
    if (!pool) lineTo(provider, model).routes.push(...names);
    for (const member of pool?.members ?? []) {
      const known = findProvider(providers, member.provider);
      if (!known || !pool) continue;
      const line = lineTo(known, member.model);
      line.routes.push(...names);
      line.pools.push({ name: pool.name, strategy: pool.strategy, weight: member.weight, routes: names });
    }
  }
  return [...lines.values()];
};

/** The route of an empty request for a model. Rules see what an empty request has. */
const routeByModel = (
  asked: string,
  client: ClientProtocol,
  { config, rules = [] }: Gateway,
  atMs: number,
): NamedRoute => {
  const request = probeRequest(asked);
  const empty = {
    client,
    origin: unknownOrigin,
    header: () => undefined,
    request,
    atMs,
    sizeRelativeTo: () => emptyPromptSize,
  };
  const own = namesDestination(request, config) ? undefined : matchRules(rules, empty, config);
  const { provider, model, pool, scenario } = resolveRoute(request, config, emptyPromptSize, { own });
  return { provider, model, pool, routes: [scenario] };
};

const routesFor = (name: string | null, model: string | null, { config }: Gateway): readonly NamedRoute[] => {
  if (name === null || model === null) {
    return name === null ? allRoutes(config) : fail('invalid-request', 'model is required where provider is given.');
  }
  const provider = findProvider(config.providers, name);
  return provider
    ? [{ provider, model, routes: ['explicit'] }]
    : fail('invalid-request', `provider is ${JSON.stringify(name)}, but there is no such provider.`);
};

/** The routes, then the pools that no route leads to. */
const allRoutes = (config: Config): readonly NamedRoute[] => {
  const routes = namedRoutes(config);
  const routed = new Set(routes.map(({ pool }) => pool));
  const others = config.pools.flatMap((pool) => {
    const destination = routed.has(pool) ? undefined : poolDestination(pool, config.providers, undefined);
    return destination ? [{ ...destination, routes: [] }] : [];
  });
  return [...routes, ...others];
};
