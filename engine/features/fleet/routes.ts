import { jsonRoute, openEndpoint } from '../../../admin/endpoint.ts';
import { FleetState } from '../../../admin/schema.ts';
import type { DocumentedRoute } from '../../http/documented-route.ts';

/** Path of the endpoint for other machines. Its query's `question` is the sealed question. */
export const fleetAnswersPath = '/api/fleet/answers';

/** Dependencies of the endpoints of a fleet. */
interface FleetParts {
  readonly state: () => FleetState;
  /** Answers another machine's sealed question. Rejects with a fault if it isn't the fleet's. Absent: there is no fleet. */
  readonly answer: ((sealed: string) => Promise<string>) | undefined;
}

/**
 * - `GET /api/fleet`: the processes of all machines that share a store, as far as this one knows.
 * - `GET /api/fleet/answers`: for other machines of the fleet, whose key seals the question.
 */
export const fleetRoutes = ({ state, answer }: FleetParts): readonly DocumentedRoute[] => [
  jsonRoute('GET', '/api/fleet', {
    summary: 'Which processes of which machines share a store',
    says: 'The members at the last word of the store; none without `FLEET`.',
    reply: FleetState,
    answer: () => state(),
  }),
  ...(answer ? [answersRoute(answer)] : []),
];

const answersRoute = (answer: (sealed: string) => Promise<string>): DocumentedRoute => ({
  method: 'GET',
  path: fleetAnswersPath,
  endpoint: {
    ...openEndpoint(async function* ({ query }) {
      const body = await answer(new URLSearchParams(query).get('question') ?? '');
      yield {
        type: 'whole',
        status: 200,
        headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' },
        body,
      };
    }),
    anyHost: true,
  },
});
