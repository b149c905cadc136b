import type { Config } from '../config/config.ts';
import { type Destination, findDestination, membersOf } from '../config/sections/destination.ts';
import type { ClientModel } from '../model/models/model-catalog.ts';
import type { ModelFacts } from '../model/models/model-facts.ts';
import { commonFacts } from '../routing/catalogue/known-model.ts';
import { modelNames } from '../routing/model-names.ts';
import { type Access, type OfferedModel, routedName } from './tool.ts';

/** A client's access to a gateway with this configuration, with the facts of the models that it offers. `model`: the name to ask for. */
export const accessTo = (
  config: Config,
  factsOf: (destination: Destination) => ModelFacts,
  { model = routedName, ...connection }: Pick<Access, 'baseUrl' | 'apiKey'> & Partial<Pick<Access, 'model'>>,
): Access => {
  const usual = [config.router.default ?? [], config.router.fallback.default ?? []].flat().flatMap((text) => {
    const found = findDestination(config, text);
    return found?.pool ? membersOf(found.pool, config.providers) : (found ?? []);
  });
  const byRules = { id: routedName, title: 'Junctor, by its rules', facts: commonFacts(usual.map(factsOf)) };
  const models = [byRules, ...modelNames(config, { factsOf })].map(offered);
  const asked = models.find(({ name }) => name === model);
  return { ...connection, model, context: asked?.context, maxOutput: asked?.maxOutput, models };
};

const offered = ({ id, title, facts }: Pick<ClientModel, 'id' | 'title' | 'facts'>): OfferedModel => ({
  name: id,
  title,
  context: facts.maxInput ?? facts.context,
  maxOutput: facts.maxOutput,
  images: facts.input?.includes('image'),
});
