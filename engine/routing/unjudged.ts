import type { ModelRequest } from '../model/request.ts';
import type { Plan } from './plan/plan.ts';
import { wantsVerdicts } from './scenarios.ts';

/**
 * A warning for users if the client wants the calls of its answer judged, and neither the destination nor a stage does that; `undefined`: all is
 * well.
 */
export const unjudged = (
  request: ModelRequest,
  { shown, destination, judges }: Pick<Plan, 'shown' | 'destination' | 'judges'>,
): string | undefined =>
  wantsVerdicts(request) && !destination.isClientsVendor && !judges
    ? `The client wants the tool calls of ${shown.provider},${shown.model} judged (safeguards), and nothing does: an entry {"name": "judge", "ask": [MODEL]} in transformers would.`
    : undefined;
