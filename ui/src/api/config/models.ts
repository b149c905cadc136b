import type { KnownModelRow as KnownModel, ModelCatalogueReply, RefreshedModels } from '../../../../admin/schema.ts';
import { call } from '../call.ts';

export type { KnownModel };

type ProviderModelFacts = ModelCatalogueReply['providers'][number];

/** Capabilities that a model may lack. */
export const lackTitles: Readonly<Record<NonNullable<KnownModel['lacks']>[number], string>> = {
  sampling: 'Sampling fields',
  forcedToolChoice: 'Forced tool calls',
  reasoningOff: 'Reasoning off',
  reasoningBudget: 'Reasoning budgets',
  minimalEffort: 'Minimal effort',
};

/** Known facts of the saved providers' models. */
export const readModelFacts = async (signal?: AbortSignal): Promise<readonly ProviderModelFacts[]> =>
  (await call<ModelCatalogueReply>('/api/models', { signal })).providers;

/** Asks a saved provider for its list of models. */
export const refreshModels = async (provider: string, signal?: AbortSignal): Promise<RefreshedModels> =>
  call('/api/models/refresh', { method: 'POST', body: { provider }, signal });

/** Source and date of a model's price. */
export const priceSource = (
  { listedAt, factsOf }: Pick<ProviderModelFacts, 'listedAt' | 'factsOf'>,
  { price, from }: Pick<KnownModel, 'price' | 'from'>,
): string => {
  if (!price) return 'Not known: set it in the configuration';
  switch (from.price) {
    case 'list':
      return `The provider’s list${listedAt === null ? '' : ` of ${listedAt.slice(0, 'yyyy-mm-dd'.length)}`}`;
    case 'package':
      return `Built in${factsOf === undefined ? '' : `, as of ${factsOf}`}`;
    case 'prices':
      return 'The built-in table of prices, at today’s date';
    default:
      return 'The configuration';
  }
};
