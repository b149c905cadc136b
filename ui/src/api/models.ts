import type { KnownModelRow as KnownModel, ModelCatalogueReply, RefreshedModels } from '../../../admin/schema.ts';
import { call } from './call.ts';

export type { KnownModel };

type ProviderModelFacts = ModelCatalogueReply['providers'][number];

/** What is known of the saved providers' models. */
export const readModelFacts = async (signal?: AbortSignal): Promise<readonly ProviderModelFacts[]> =>
  (await call<ModelCatalogueReply>('/api/models', { signal })).providers;

/** Asks a saved provider for its list of models. */
export const refreshModels = async (provider: string, signal?: AbortSignal): Promise<RefreshedModels> =>
  call('/api/models/refresh', { method: 'POST', body: { provider }, signal });
