import { jsonOperation, openEndpoint } from '../../../admin/endpoint.ts';
import { FleetState } from '../../../admin/schema.ts';
import type { DocumentedRoute } from '../../http/documented-route.ts';

/** Path of the endpoint for other machines. Its query's `question` is the sealed question. */
export const fleetAnswersPath = '/api/fleet/answers';

/** The processes of all machines that share a store, as far as this one knows. */
export const fleetOperations = (state: () => FleetState) => ({
  state: jsonOperation({
    summary: 'Which processes of which machines share a store',
    says: 'The members at the last word of the store; none without `FLEET`.',
    reply: FleetState,
    answer: () => state(),
  }),
});

/**
 * For other machines of the fleet. `answer`: answers another machine's sealed question; rejects with a fault if it isn't the fleet's.
 */
export const answersRoute = (answer: (sealed: string) => Promise<string>): DocumentedRoute => ({
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
