import Type from 'typebox';
import { noVendorModels, type VendorModels } from '../../engine/model/models/model-catalog.ts';
import { reader } from '../../engine/model/schema.ts';
import { readListedModel } from '../../engine/model/wire/listed-model.ts';

const models = reader(
  Type.Object({
    models: Type.Array(
      Type.Object({
        name: Type.String(),
        supportedGenerationMethods: Type.Optional(Type.Array(Type.String())),
        inputTokenLimit: Type.Optional(Type.Integer()),
        outputTokenLimit: Type.Optional(Type.Integer()),
        thinking: Type.Optional(Type.Boolean()),
      }),
    ),
    nextPageToken: Type.Optional(Type.String()),
  }),
);

const query = 'pageSize=1000';

/**
 * Lists the models that generate text, by the names used in requests. Source: Gemini API reference, "models.list".
 */
export const geminiModelList: VendorModels = {
  query,
  decode(body) {
    if (!models.matches(body)) return noVendorModels();
    const { nextPageToken: next } = body;
    return {
      models: body.models
        .filter(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
        .flatMap((row) => readListedModel(row, row.name.replace(/^models\//, '')) ?? []),
      ...(next && { next: `${query}&pageToken=${encodeURIComponent(next)}` }),
    };
  },
};
