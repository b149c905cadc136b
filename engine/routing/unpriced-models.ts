import type { NamedClient } from '../config/config.ts';
import type { Finding } from '../config/diagnostics.ts';
import { memberPath } from '../model/schema.ts';
import type { Gateway } from './gateway.ts';

type Known = Pick<Gateway, 'config' | 'access' | 'modelFacts'>;

/** The configured models that a client may use and that have no known price, as `provider,model`. */
export const unpricedModels = ({ name }: NamedClient, { config, access, modelFacts }: Known): readonly string[] =>
  config.providers.flatMap((provider) =>
    provider.models
      .filter((model) => access.get(name)?.allowsModel({ provider, model }) && !modelFacts({ provider, model }).price)
      .map((model) => `${provider.name},${model}`),
  );

const maxNamed = 12;

/** Says which models don't count in budgets in USD. */
export const unpricedBudgets = (gateway: Known): readonly Finding[] =>
  (gateway.config.clients ?? []).flatMap((client, index) => {
    if (client.budget?.usd === undefined) return [];
    const models = unpricedModels(client, gateway);
    if (models.length === 0) return [];
    const more = models.length > maxNamed ? ` and ${models.length - maxNamed} more` : '';
    const named = models.slice(0, maxNamed).join('; ') + more;
    const message = `does not count ${named}: no price is known; a price in Providers[].models sets one`;
    return [{ path: `${memberPath('CLIENTS', index)}.budget.usd`, message }];
  });
