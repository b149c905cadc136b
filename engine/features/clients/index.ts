import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import type { FeatureFolder, FeatureServices } from '../../feature.ts';
import type { DocumentedRoute } from '../../http/documented-route.ts';
import type { ClientServices } from './client-session.ts';
import type { UseKeeper } from './open-clients.ts';

interface ClientsServices extends FeatureServices {
  readonly persistence: { readonly history: UseKeeper };
}

/** Clients with keys of their own: what they may use, their limits and budgets. */
export const clientsFeature: FeatureFolder<ClientsServices> = {
  configured: (config) => config.clients !== undefined,
  async open(services) {
    const { openClients } = await import('./open-clients.ts');
    const { logs, steadyNowMs, current, hub, fleet } = services;
    const { admit, clientsKept, close, ...counts } = await openClients({
      log: logs.app,
      keeper: services.persistence.history,
      nowMs: steadyNowMs,
      current,
      limits: hub,
      budgets: fleet?.hub,
    });
    return { admit, clientsKept, close, routes: routesOf(services, counts) };
  },
  closedRoutes: (services) => routesOf(services, undefined),
};

const routesOf = (services: FeatureServices, counts: ClientServices | undefined): readonly DocumentedRoute[] =>
  lazyRoutes(
    {
      list: 'GET /api/clients',
      add: 'POST /api/clients',
      change: 'PATCH /api/clients/:name',
      remove: 'DELETE /api/clients/:name',
    },
    async () => (await import('./routes.ts')).clientOperations({ ...services, counts }),
  );
