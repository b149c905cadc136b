import { type DocumentedRoute, jsonRoute } from './endpoint.ts';
import { FleetState } from './schema.ts';

/** `GET /api/fleet`: the processes of all machines that share a store, as far as this one knows. */
export const fleetRoutes = (state: () => FleetState): readonly DocumentedRoute[] => [
  jsonRoute('GET', '/api/fleet', {
    summary: 'Which processes of which machines share a store',
    says: 'The members at the last word of the store; none without `FLEET`.',
    reply: FleetState,
    answer: () => state(),
  }),
];
