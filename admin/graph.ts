import { defer, of } from 'rxjs';
import type { Row } from '../engine/http/site.ts';
import { fail } from '../engine/model/fault.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { configuredRoutes, type NamedRoute } from '../engine/routing/configured-routes.ts';
import { findProvider } from '../engine/routing/destination.ts';
import { plainRequest } from '../engine/routing/plain-request.ts';
import { resolveRoute } from '../engine/routing/resolve.ts';
import { showLine } from '../engine/yard/show-line.ts';
import type { Yard } from '../engine/yard/yard.ts';
import { jsonReply } from './json-reply.ts';
import { wordFault } from './word-fault.ts';

/**
 * `GET /api/graph`: the graphs that requests run through. `model` picks one as a client would, `provider` and `model` name it;
 * without either, all configured routes. `client` picks one client protocol.
 */
export const graphRows = (yard: () => Yard, clients: readonly ClientProtocol[]): readonly Row[] => [
  {
    method: 'GET',
    path: '/api/graph',
    endpoint: {
      open: false,
      wordFault,
      handle: ({ query }) => defer(() => of(jsonReply({ graphs: draw(new URLSearchParams(query), yard(), clients) }))),
    },
  },
];

const draw = (query: URLSearchParams, yard: Yard, clients: readonly ClientProtocol[]) => {
  const wanted = query.get('client');
  const chosen = clients.filter(({ wire }) => wanted === null || wire === wanted);
  if (chosen.length === 0) {
    fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`);
  }
  return routesFor(query.get('provider'), query.get('model'), yard).flatMap(({ provider, model, routes }) =>
    chosen.map((client) => showLine(yard.lineTo({ client, provider, model }), routes)),
  );
};

const routesFor = (name: string | null, model: string | null, { config }: Yard): readonly NamedRoute[] => {
  if (name === null && model === null) return configuredRoutes(config);
  if (model === null) return fail('invalid-request', 'model is required where provider is given.');
  if (name === null) {
    const { provider, model: upstreamModel, scenario } = resolveRoute(plainRequest(model), config);
    return [{ provider, model: upstreamModel, routes: [scenario] }];
  }
  const provider = findProvider(config.providers, name);
  return provider
    ? [{ provider, model, routes: ['explicit'] }]
    : fail('invalid-request', `provider is ${JSON.stringify(name)}, but there is no such provider.`);
};
