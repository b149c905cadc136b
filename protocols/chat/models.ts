import Type from 'typebox';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import {
  type ClientModel,
  type ClientModels,
  describeModel,
  noVendorModels,
  type VendorModels,
} from '../../engine/model/models/model-catalog.ts';
import type { ModelFacts } from '../../engine/model/models/model-facts.ts';
import { reader } from '../../engine/model/schema.ts';
import { readListedModel } from '../../engine/model/wire/listed-model.ts';
import { encodeFault } from './encode-fault.ts';

const models = reader(Type.Object({ data: Type.Array(Type.Unsafe<Json>(Type.Object({ id: Type.String() }))) }));

/** Decodes the model list of OpenAI, which has one page, and of compatible servers. Source: OpenAI API reference, "List models". */
export const chatModelList: VendorModels = {
  decode: (body) =>
    models.matches(body) ? { models: body.data.flatMap((row) => readListedModel(row) ?? []) } : noVendorModels(),
};

const encodeModel = (model: ClientModel, createdAtMs: number): JsonObject => ({
  id: model.id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: model.owner,
  description: describeModel(model),
  ...encodeFacts(model.facts),
});

/** Members that other vendors' clients read. Source: OpenRouter API reference, "List available models". */
const encodeFacts = ({ context, maxOutput, input, price }: ModelFacts): JsonObject => ({
  ...(context !== undefined && { context_length: context }),
  ...(maxOutput !== undefined && { max_completion_tokens: maxOutput }),
  ...(input && { architecture: { input_modalities: input.map((kind) => (kind === 'pdf' ? 'file' : kind)) } }),
  ...(price && {
    pricing: {
      prompt: perToken(price.input),
      completion: perToken(price.output),
      ...(price.cacheRead !== undefined && { input_cache_read: perToken(price.cacheRead) }),
      ...(price.cacheWrite !== undefined && { input_cache_write: perToken(price.cacheWrite) }),
    },
  }),
});

/** USD per token, as a decimal number without an exponent. */
const perToken = (perMillion: number): string => {
  const text = (perMillion / 1e6).toFixed(12);
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
};

/** Encodes the model list in OpenAI's format, as one page. Source: OpenAI API reference, "List models". */
export const chatModels: ClientModels = {
  matches: () => true,
  encodeList: (models, createdAtMs) => ({
    object: 'list',
    data: models.map((model) => encodeModel(model, createdAtMs)),
  }),
  encodeModel,
  encodeFault: (fault) =>
    encodeFault(fault.kind === 'not-found' ? { ...fault, param: 'model', code: 'model_not_found' } : fault),
};
