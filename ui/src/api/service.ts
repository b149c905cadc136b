import type { FleetState, PlainModel as ListedModel, ServiceState } from '../../../admin/schema.ts';
import { call } from './call.ts';
import type { Outcome } from './config/config.ts';

export type { ListedModel };

/** What the service tells of itself. */
export const readService = (signal?: AbortSignal): Promise<ServiceState> => call('/api/service', { signal });

/** Puts new processes in the place of those that serve; no stream is cut. */
export const restartService = (): Promise<Outcome> => call('/api/restart', { method: 'POST' });

/** Every name that a request may ask for. */
export const listModels = async (signal?: AbortSignal): Promise<readonly ListedModel[]> =>
  (await call<{ readonly data: readonly ListedModel[] }>('/v1/models', { signal })).data;

/** The machines that share a store, as far as the service knows. */
export const readFleet = (signal?: AbortSignal): Promise<FleetState> => call('/api/fleet', { signal });
