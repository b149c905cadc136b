import type { JsonObject } from '../../engine/model/json.ts';
import type { ListedModel, ModelListing } from '../../engine/model/model-listing.ts';
import { encodeFault } from './faults.ts';

const encodeModel = ({ id, owner }: ListedModel, createdAtMs: number): JsonObject => ({
  id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: owner,
});

/** The list of models as OpenAI has it: all at once. Source: OpenAI API reference, "List models". */
export const chatModels: ModelListing = {
  isAsked: () => true,
  encodeList: (models, createdAtMs) => ({
    object: 'list',
    data: models.map((model) => encodeModel(model, createdAtMs)),
  }),
  encodeModel,
  encodeFault: (fault) =>
    encodeFault(fault.kind === 'not-found' ? { ...fault, param: 'model', code: 'model_not_found' } : fault),
};
