import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import { createCatalogue } from '../catalogue/catalogue.ts';
import type { Config } from '../config/config.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { formatOf } from '../routing/plan/plan.ts';

/** What is known of the models of a configuration outside the service, by the lists kept in `home` too. Loads no module. */
export const offlineModelFacts = async (
  config: Config,
  home: string,
): Promise<{ readonly factsOf: Gateway['modelFacts']; readonly loadPrices: () => Promise<void> }> => {
  const catalogue = createCatalogue(home);
  await catalogue.reload();
  const registry: TransformerRegistry = { formats, stages, defaultFormat, custom: new Map() };
  return {
    factsOf: ({ provider, model }) => catalogue.know(provider, model, formatOf(config, registry, { provider, model })),
    loadPrices: catalogue.loadPrices,
  };
};
