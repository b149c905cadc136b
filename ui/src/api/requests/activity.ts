import type { Activity, InFlight, ActivityRoute as LineActivity } from '../../../../engine/features/record/schema.ts';
import { call } from '../call.ts';

export type { Activity, InFlight, LineActivity };

/** What the gateway does right now; with `minutes`, also the traffic of so many. */
export const readActivity = (signal?: AbortSignal, minutes?: number): Promise<Activity> =>
  call('/api/activity', { query: { minutes }, signal });
