import Type from 'typebox';
import { findProvider } from '../engine/config/destination.ts';
import { fail } from '../engine/model/fault.ts';
import { unknownOrigin } from '../engine/model/origin.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { probeRequest } from '../engine/model/request.ts';
import type { Gateway } from '../engine/routing/gateway.ts';
import { type NamedRoute, namedRoutes } from '../engine/routing/model-names.ts';
import { showPlan } from '../engine/routing/plan/plan.ts';
import { namesDestination, noSize, resolveRoute } from '../engine/routing/resolve.ts';
import { matchRules } from '../engine/routing/rules/rules.ts';
import { type DocumentedRoute, jsonRoute } from './endpoint.ts';
import { PlanGraph } from './schema.ts';

/**
 * `GET /api/graph`: the transformer graphs of requests. `model` alone routes like a client's request; `provider` and `model`
 * name a destination; neither: all configured routes. `client` selects a client protocol.
 */
export const graphRoutes = (gateway: () => Gateway, clients: readonly ClientProtocol[]): readonly DocumentedRoute[] => [
  jsonRoute('GET', '/api/graph', {
    summary: 'The steps that requests run through',
    says: 'One graph for each client protocol and route.',
    reply: Type.Object({ graphs: Type.Array(PlanGraph) }),
    query: {
      client: Type.String({ description: 'One client protocol.' }),
      provider: Type.String({ description: 'One provider; needs `model`.' }),
      model: Type.String({ description: 'A model, as a request would name it.' }),
    },
    answer: ({ query, startedAtMs }) => ({ graphs: draw(new URLSearchParams(query), gateway(), clients, startedAtMs) }),
  }),
];

const draw = (query: URLSearchParams, gateway: Gateway, clients: readonly ClientProtocol[], atMs: number) => {
  const wanted = query.get('client');
  const chosen = clients.filter(({ wire }) => wanted === null || wire === wanted);
  if (chosen.length === 0) {
    fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`);
  }
  const [name, model] = [query.get('provider'), query.get('model')];
  if (name === null && model !== null) return chosen.map((client) => routeByModel(model, client, gateway, atMs));
  return routesFor(name, model, gateway).flatMap(({ provider, model: upstreamModel, routes }) =>
    chosen.map((client) => showPlan(gateway.planFor({ client, provider, model: upstreamModel }), routes)),
  );
};

/** The plan of an empty request for a model. Rules see what an empty request has. */
const routeByModel = (
  asked: string,
  client: ClientProtocol,
  { config, rules = [], planFor }: Gateway,
  atMs: number,
) => {
  const request = probeRequest(asked);
  const empty = { client, origin: unknownOrigin, header: () => undefined, request, atMs, sizeBeside: () => noSize };
  const own = namesDestination(request, config) ? undefined : matchRules(rules, empty, config);
  const { provider, model, scenario } = resolveRoute(request, config, noSize, { own });
  return showPlan(planFor({ client, provider, model }), [scenario]);
};

const routesFor = (name: string | null, model: string | null, { config }: Gateway): readonly NamedRoute[] => {
  if (name === null || model === null) {
    return name === null ? namedRoutes(config) : fail('invalid-request', 'model is required where provider is given.');
  }
  const provider = findProvider(config.providers, name);
  return provider
    ? [{ provider, model, routes: ['explicit'] }]
    : fail('invalid-request', `provider is ${JSON.stringify(name)}, but there is no such provider.`);
};
