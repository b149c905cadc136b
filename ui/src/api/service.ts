import type { FleetState, ModelCatalogueReply, ServiceState } from '../../../admin/schema.ts';
import { call } from './call.ts';
import type { Outcome } from './config/config.ts';

/** The service's report on itself. */
export const readService = (signal?: AbortSignal): Promise<ServiceState> => call('/api/service', { signal });

/** Puts new processes in the place of those that serve; no stream is cut. */
export const restartService = (): Promise<Outcome> => call('/api/restart', { method: 'POST' });

/** A name that a request may ask for. */
export type ListedModel = ModelCatalogueReply['names'][number];

/** Every name that a request may ask for. Not from `/v1/models`, which may need the key of a client. */
export const listModels = async (signal?: AbortSignal): Promise<readonly ListedModel[]> =>
  (await call<ModelCatalogueReply>('/api/models', { signal })).names;

/** The machines that share a store, as far as the service knows. */
export const readFleet = (signal?: AbortSignal): Promise<FleetState> => call('/api/fleet', { signal });
