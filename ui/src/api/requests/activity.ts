import type { Activity, InFlight, ActivityRoute as LineActivity } from '../../../../engine/features/record/schema.ts';
import { call } from '../call.ts';

export type { Activity, InFlight, LineActivity };

/** The gateway's current activity; with `minutes`, also the traffic of so many. */
export const readActivity = (signal?: AbortSignal, minutes?: number): Promise<Activity> =>
  call('/api/activity', { query: { minutes }, signal });
