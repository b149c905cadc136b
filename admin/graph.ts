import Type from 'typebox';
import { findProvider } from '../engine/config/destination.ts';
import { fail } from '../engine/model/fault.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { probeRequest } from '../engine/model/request.ts';
import type { Gateway } from '../engine/routing/gateway.ts';
import { type NamedRoute, namedRoutes } from '../engine/routing/model-names.ts';
import { showPlan } from '../engine/routing/plan/plan.ts';
import { resolveRoute } from '../engine/routing/resolve.ts';
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
    answer: ({ query }) => ({ graphs: draw(new URLSearchParams(query), gateway(), clients) }),
  }),
];

const draw = (query: URLSearchParams, gateway: Gateway, clients: readonly ClientProtocol[]) => {
  const wanted = query.get('client');
  const chosen = clients.filter(({ wire }) => wanted === null || wire === wanted);
  if (chosen.length === 0) {
    fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`);
  }
  return routesFor(query.get('provider'), query.get('model'), gateway).flatMap(({ provider, model, routes }) =>
    chosen.map((client) => showPlan(gateway.planFor({ client, provider, model }), routes)),
  );
};

const routesFor = (name: string | null, model: string | null, { config }: Gateway): readonly NamedRoute[] => {
  if (name === null && model === null) return namedRoutes(config);
  if (model === null) return fail('invalid-request', 'model is required where provider is given.');
  if (name === null) {
    const { provider, model: upstreamModel, scenario } = resolveRoute(probeRequest(model), config);
    return [{ provider, model: upstreamModel, routes: [scenario] }];
  }
  const provider = findProvider(config.providers, name);
  return provider
    ? [{ provider, model, routes: ['explicit'] }]
    : fail('invalid-request', `provider is ${JSON.stringify(name)}, but there is no such provider.`);
};
