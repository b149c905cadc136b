import Type from 'typebox';
import type { Provider } from '../../engine/config/config.ts';
import { showReferencesIn } from '../../engine/config/env.ts';
import type { LocalServerKind } from '../../engine/endpoints/local-servers.ts';
import { refreshModels } from '../../engine/endpoints/refresh-models.ts';
import { fail, quoted } from '../../engine/model/fault.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import type { KnownModel } from '../../engine/routing/catalogue/known-model.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { modelNames } from '../../engine/routing/model-names.ts';
import { jsonOperation, readJsonBody } from '../endpoint.ts';
import { type KnownModelRow, ModelCatalogueReply, RefreshedModels } from '../schema.ts';

/** Dependencies of the catalogue's endpoints. */
interface CatalogueParts {
  readonly gateway: () => Gateway;
  /** Any protocol. */
  readonly client: ClientProtocol;
  /** The prefix of aliases in lists of models. */
  readonly aliasPrefix: string;
  readonly localServerKinds: readonly LocalServerKind[];
  /** Time limit of a provider's answer, in milliseconds. */
  readonly limitMs: number;
  /** Says to the service's other processes that there are new lists. */
  readonly refreshed: () => void;
}

const RefreshRequest = Type.Object({
  provider: Type.Optional(Type.String({ description: 'Asks this one alone.' })),
});

/** `GET /api/models`: what is known of the configured models. `POST /api/models/refresh`: asks the providers for their lists. */
export const catalogueOperations = ({ gateway, refreshed, ...parts }: CatalogueParts) => ({
  models: jsonOperation({
    summary: 'What is known of the models: window, output, prices, retirement',
    says: 'The models of the configuration, by provider.',
    reply: ModelCatalogueReply,
    answer: async () => {
      const current = gateway();
      await loadWanted(current);
      const names = modelNames(current.config, { aliasPrefix: parts.aliasPrefix });
      const shown = showReferencesIn(current.config.referred, names);
      return {
        names: shown.map(({ id, owner }) => ({ id, owned_by: owner })),
        providers: current.config.providers.map((provider) => describe(provider, current)),
      };
    },
  }),
  refresh: jsonOperation({
    summary: 'Asks the providers for their lists of models',
    says: 'What each of them answered.',
    reply: RefreshedModels,
    request: RefreshRequest,
    answer: async ({ body }) => {
      const current = gateway();
      const { provider } = body.length === 0 ? {} : readJsonBody(body);
      if (provider !== undefined && !current.config.providers.some(({ name }) => name === provider))
        fail('not-found', `There is no provider ${quoted(String(provider))}.`, { param: 'provider' });
      const only = typeof provider === 'string' ? provider : undefined;
      const providers = await refreshModels({ gateway: current, ...parts }, only);
      refreshed();
      return { providers };
    },
  }),
});

/** Loads the table of prices if a model needs it. */
const loadWanted = async ({ config, catalogue, modelFacts }: Gateway): Promise<void> => {
  const isUnpriced = config.providers.some((provider) =>
    provider.models.some((model) => !modelFacts({ provider, model }).price),
  );
  if (isUnpriced) await catalogue.loadPrices();
};

const describe = (provider: Provider, { catalogue, modelFacts, formatOf }: Gateway) => {
  const list = catalogue.listOf(provider);
  const facts = formatOf({ provider, model: provider.models[0] ?? '' }).format.facts;
  return {
    provider: provider.name,
    listedAt: list ? new Date(list.atMs).toISOString() : null,
    ...(facts && { factsOf: facts.asOf }),
    models: provider.models.map((model) => show(model, modelFacts({ provider, model }))),
  };
};

const show = (model: string, { pricing: _, from, ...facts }: KnownModel): KnownModelRow => ({
  model,
  ...facts,
  from,
});
