import type { Activity, InFlight, ActivityLine as LineActivity } from '../../../engine/observe/history/schema.ts';
import { call } from './call.ts';

export type { Activity, InFlight, LineActivity };

/** What the gateway does right now. */
export const readActivity = (signal?: AbortSignal): Promise<Activity> => call('/api/activity', { signal });
