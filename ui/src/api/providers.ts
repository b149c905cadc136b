import type {
  LocalServers,
  ModelsOutcome as ProviderModels,
  TestOutcome as ProviderTest,
} from '../../../admin/schema.ts';
import { call } from './call.ts';
import type { ProviderFile } from './config.ts';

export type { ProviderModels, ProviderTest };

/** Sends one tiny request to a provider, which need not be saved. */
export const testProvider = (provider: ProviderFile, model: string, signal?: AbortSignal): Promise<ProviderTest> =>
  call('/api/providers/test', { method: 'POST', body: { provider, model }, signal });

export type LocalServer = LocalServers['servers'][number];

/** Finds model servers on the gateway's machine. */
export const findLocalServers = (signal?: AbortSignal): Promise<LocalServers> =>
  call('/api/providers/local', { signal });

/** Asks a provider, which need not be saved, for its models. */
export const fetchModels = (provider: ProviderFile, signal?: AbortSignal): Promise<ProviderModels> =>
  call('/api/providers/models', { method: 'POST', body: { provider }, signal });
