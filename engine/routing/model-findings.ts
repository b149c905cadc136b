import type { NamedClient } from '../config/config.ts';
import type { Finding } from '../config/diagnostics.ts';
import { findDestination } from '../config/sections/destination.ts';
import { memberPath } from '../model/schema.ts';
import type { Gateway } from './gateway.ts';
import { destinationName } from './model-names.ts';
import { factsIn } from './rules/condition.ts';

type Known = Pick<Gateway, 'config' | 'access' | 'modelFacts' | 'commandKeys' | 'rules' | 'conditions' | 'formatOf'>;

/**
 * What users should know of the configured models: those that retire, those without a price that a budget would need, those without a key, those
 * that decide without a probability.
 */
export const modelFindings = (gateway: Known, nowMs: number): readonly Finding[] => [
  ...retiringModels(gateway, nowMs),
  ...unpricedBudgets(gateway),
  ...refusedCommands(gateway),
  ...improbableDecisions(gateway),
];

/** The commands for keys that the service wasn't started with. */
const refusedCommands = ({ config, commandKeys }: Known): readonly Finding[] =>
  config.providers.flatMap(({ name, keyCommands }, index) =>
    [...(keyCommands?.values() ?? [])].flatMap(({ command }) =>
      commandKeys.allows(command)
        ? []
        : {
            path: memberPath('Providers', index),
            message: `has a command for the key of ${JSON.stringify(name)}, which runs only if the service is started with --allow-key-command and this command`,
          },
    ),
  );

/** The configured models that a client may use and that have no known price, as `provider,model`. */
export const unpricedModels = ({ name }: NamedClient, { config, access, modelFacts }: Known): readonly string[] =>
  config.providers.flatMap((provider) =>
    provider.models
      .filter((model) => access.get(name)?.allowsModel({ provider, model }) && !modelFacts({ provider, model }).price)
      .map((model) => `${provider.name},${model}`),
  );

/** Says which conditions want a probability that their model's provider doesn't report. */
const improbableDecisions = ({ config, rules = [], conditions = [], formatOf }: Known): readonly Finding[] =>
  [
    ...rules.map(({ condition }, index) => ({ condition, at: `${memberPath('Router.rules', index)}.when` })),
    ...conditions.map(({ condition, entry }) => ({ condition, at: `${entry.at}.when` })),
  ].flatMap(({ condition, at }) =>
    factsIn(condition).flatMap(({ at: inner, decides }) => {
      const found = decides?.atLeast === undefined ? undefined : findDestination(config, decides.ask);
      if (!found || found.pool) return [];
      const { format, options } = formatOf(found);
      const { wire, reportsProbabilities } = format.protocol({
        ...found,
        baseUrl: found.provider.baseUrl,
        options,
        relays: undefined,
      });
      if (reportsProbabilities) return [];
      const message = `is never known: over ${wire}, ${destinationName(found)} reports no probability, so it is as \`otherwise\` says`;
      return [{ path: `${at}.${inner}.atLeast`, message }];
    }),
  );

const maxNamed = 12;

/** Says which models don't count in budgets in USD. */
const unpricedBudgets = (gateway: Known): readonly Finding[] =>
  (gateway.config.clients ?? []).flatMap((client, index) => {
    if (client.budget?.usd === undefined) return [];
    const models = unpricedModels(client, gateway);
    if (models.length === 0) return [];
    const more = models.length > maxNamed ? ` and ${models.length - maxNamed} more` : '';
    const named = models.slice(0, maxNamed).join('; ') + more;
    const message = `does not count ${named}: no price is known; a price in Providers[].models sets one`;
    return [{ path: `${memberPath('CLIENTS', index)}.budget.usd`, message }];
  });

/** Models are reported this long before their end. */
const noticeMs = 30 * 86_400_000;

/** The configured models that are shut down, or will be within 30 days. */
const retiringModels = ({ config, modelFacts }: Known, nowMs: number): readonly Finding[] =>
  config.providers.flatMap((provider, index) =>
    provider.models.flatMap((model) => {
      const { retires } = modelFacts({ provider, model });
      const atMs = Date.parse(retires ?? '');
      // Also false for a model without a date.
      if (!(atMs - nowMs <= noticeMs)) return [];
      const path = `${memberPath('Providers', index)}.models`;
      const when = atMs <= nowMs ? `was shut down on ${retires}` : `retires on ${retires}`;
      return [{ path, message: `names ${JSON.stringify(model)}, which ${when}` }];
    }),
  );
