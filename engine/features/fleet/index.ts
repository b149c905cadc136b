import { laterRoutes } from '../../../admin/later-routes.ts';
import type { FeatureFolder } from '../../feature.ts';

/** Other machines of the fleet: what is shown of them, what they are asked, and what they ask. */
export const fleet: FeatureFolder = {
  configured: (_, services) => services.fleet !== undefined,
  async open({ fleet: joined, features, store, outerUrl, active }) {
    if (!joined) return {};
    const [
      { fleetRoutes },
      { fleetFigures, fleetState },
      { fleetMetrics },
      { answerNode: answerMachine, openNodes: openMachines },
    ] = await Promise.all([
      import('./routes.ts'),
      import('./fleet-state.ts'),
      import('./fleet-metrics.ts'),
      import('./nodes.ts'),
    ]);
    const streams = () => [...active].filter(({ isOpen }) => isOpen).length;
    return {
      nodes: openMachines(joined, Date.now),
      metrics: fleetMetrics(() => fleetFigures(joined)),
      routes: fleetRoutes({
        state: () => fleetState(joined),
        answer: (sealed) => answerMachine(joined.sealer, Date.now(), sealed, features.answerNode),
      }),
      listening: () => joined.present(() => ({ source: store.source, address: outerUrl(), streams: streams() })),
    };
  },
  closedRoutes: () =>
    laterRoutes(['GET /api/fleet'], async () => {
      const { fleetRoutes } = await import('./routes.ts');
      return fleetRoutes({ state: () => ({ store: null, drift: false, members: [] }), answer: undefined });
    }),
};
