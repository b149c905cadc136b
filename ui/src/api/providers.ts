import { call } from './call.ts';
import type { ProviderFile } from './config.ts';

/** What became of one tiny request. */
export interface ProviderTest {
  readonly ok: boolean;
  /** The upstream's; absent when it didn't answer. */
  readonly status?: number;
  readonly ms: number;
  /** In words. */
  readonly message: string;
  /** The first words of the answer. */
  readonly reply?: string;
}

/** The vendor's own list of models. */
export interface ProviderModels {
  readonly ok: boolean;
  readonly models: readonly string[];
  readonly message: string;
}

/** Sends one tiny request to a provider, which need not be saved. */
export const testProvider = (provider: ProviderFile, model: string, signal?: AbortSignal): Promise<ProviderTest> =>
  call('/api/providers/test', { method: 'POST', body: { provider, model }, signal });

/** Asks a provider, which need not be saved, for its models. */
export const fetchModels = (provider: ProviderFile, signal?: AbortSignal): Promise<ProviderModels> =>
  call('/api/providers/models', { method: 'POST', body: { provider }, signal });
