import type {
  LocalServers,
  ModelsOutcome as ProviderModels,
  TestOutcome as ProviderTest,
} from '../../../../admin/schema.ts';
import { call } from '../call.ts';
import type { ProviderFile, TransformerEntry } from './config.ts';

export type { ProviderModels, ProviderTest };

/** A provider as it is edited, with the transformers of the same draft: one of them may determine its format. */
interface EditedProvider {
  readonly provider: ProviderFile;
  readonly transformers: readonly TransformerEntry[];
}

/** Sends one tiny request to a provider, which need not be saved. */
export const testProvider = (edited: EditedProvider, model: string, signal?: AbortSignal): Promise<ProviderTest> =>
  call('/api/providers/test', { method: 'POST', body: { ...edited, model }, signal });

export type LocalServer = LocalServers['servers'][number];

/** Finds model servers on the gateway's machine. */
export const findLocalServers = (signal?: AbortSignal): Promise<LocalServers> =>
  call('/api/providers/local', { signal });

/** Asks a provider, which need not be saved, for its models. */
export const fetchModels = (edited: EditedProvider, signal?: AbortSignal): Promise<ProviderModels> =>
  call('/api/providers/models', { method: 'POST', body: edited, signal });
