import { lazyRoutes } from '../../../admin/lazy-routes.ts';
import type { FleetState } from '../../../admin/schema.ts';
import type { FeatureFolder } from '../../feature.ts';

/** Other machines of the fleet: what is shown of them, what they are asked, and what they ask. */
export const fleet: FeatureFolder = {
  configured: (_, services) => services.fleet !== undefined,
  async open({ fleet: joined, features, store, outerUrl, active }) {
    if (!joined) return {};
    const [{ answersRoute }, { fleetFigures, fleetState }, { fleetMetrics }, { answerNode, openNodes }] =
      await Promise.all([
        import('./routes.ts'),
        import('./fleet-state.ts'),
        import('./fleet-metrics.ts'),
        import('./nodes.ts'),
      ]);
    const streams = () => [...active].filter(({ isOpen }) => isOpen).length;
    return {
      nodes: openNodes(joined, Date.now),
      metrics: fleetMetrics(() => fleetFigures(joined)),
      routes: [
        ...stateRoute(() => fleetState(joined)),
        answersRoute((sealed) => answerNode(joined.sealer, Date.now(), sealed, features.answerNode)),
      ],
      listening: () => joined.present(() => ({ source: store.source, address: outerUrl(), streams: streams() })),
    };
  },
  closedRoutes: () => stateRoute(() => ({ store: null, drift: false, members: [] })),
};

const stateRoute = (state: () => FleetState) =>
  lazyRoutes({ state: 'GET /api/fleet' }, async () => (await import('./routes.ts')).fleetOperations(state));
