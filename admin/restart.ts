import { defer, from, map } from 'rxjs';
import type { Row } from '../engine/http/site.ts';
import { fail } from '../engine/model/fault.ts';
import type { Supervision } from '../engine/workers/fleet.ts';
import { jsonReply } from './json-reply.ts';
import { wordFault } from './word-fault.ts';

/**
 * `POST /api/restart`: new processes take over, and the old ones finish what they have begun. Answers once the new ones serve; if
 * they can't, nothing changes and the answer says why.
 */
export const restartRows = (supervision: Supervision | undefined): readonly Row[] => [
  {
    method: 'POST',
    path: '/api/restart',
    endpoint: {
      open: false,
      wordFault,
      handle: () =>
        defer(() => from(restart(supervision))).pipe(
          map((problem) =>
            problem === undefined
              ? jsonReply({
                  success: true,
                  message: 'The service was restarted; streams in flight go on to their end.',
                })
              : jsonReply({ success: false, message: `The service was not restarted, and goes on: ${problem}` }, 500),
          ),
        ),
    },
  },
];

/** What kept the service from restarting, in words for its owner. */
const restart = async (supervision: Supervision | undefined): Promise<string | undefined> => {
  if (!supervision) return fail('unavailable', 'This service runs inside another program, which alone can restart it.');
  return supervision.restart().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
};
