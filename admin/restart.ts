import type { HttpRoute } from '../engine/http/router.ts';
import { fail } from '../engine/model/fault.ts';
import { adminEndpoint } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';

/** A restartable service. */
interface Restartable {
  /** Resolves once new processes serve; rejects with a message for users. */
  readonly restart: () => Promise<void>;
}

/**
 * `POST /api/restart`: replaces the serving processes; the old ones finish their requests. Replies once the new ones serve; on
 * failure nothing changes, and the reply has the reason.
 */
export const restartRoutes = (supervision: Restartable | undefined): readonly HttpRoute[] => [
  {
    method: 'POST',
    path: '/api/restart',
    endpoint: adminEndpoint(async () => {
      const problem = await restart(supervision);
      return problem === undefined
        ? jsonReply({ success: true, message: 'The service was restarted; streams in flight go on to their end.' })
        : jsonReply({ success: false, message: `The service was not restarted, and goes on: ${problem}` }, 500);
    }),
  },
];

/** Restarts the service. Returns the reason for users if it fails. */
const restart = async (supervision: Restartable | undefined): Promise<string | undefined> => {
  if (!supervision) return fail('unavailable', 'This service runs inside another program, which alone can restart it.');
  return supervision.restart().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
};
