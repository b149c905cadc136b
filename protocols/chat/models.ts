import Type from 'typebox';
import type { JsonObject } from '../../engine/model/json/json.ts';
import {
  type ClientModel,
  type ClientModels,
  noVendorModels,
  type VendorModels,
} from '../../engine/model/model-catalog.ts';
import { reader } from '../../engine/model/schema.ts';
import { encodeFault } from './encode-fault.ts';

const models = reader(Type.Object({ data: Type.Array(Type.Object({ id: Type.String() })) }));

/** Decodes OpenAI's model list, which has one page. Source: OpenAI API reference, "List models". */
export const chatModelList: VendorModels = {
  decode: (body) => (models.matches(body) ? { models: body.data.map(({ id }) => id) } : noVendorModels()),
};

const encodeModel = ({ id, owner }: ClientModel, createdAtMs: number): JsonObject => ({
  id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: owner,
});

/** Encodes the model list in OpenAI's format, as one page. Source: OpenAI API reference, "List models". */
export const chatModels: ClientModels = {
  isAsked: () => true,
  encodeList: (models, createdAtMs) => ({
    object: 'list',
    data: models.map((model) => encodeModel(model, createdAtMs)),
  }),
  encodeModel,
  encodeFault: (fault) =>
    encodeFault(fault.kind === 'not-found' ? { ...fault, param: 'model', code: 'model_not_found' } : fault),
};
