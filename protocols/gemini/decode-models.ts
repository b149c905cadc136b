import Type from 'typebox';
import { type ModelList, noModelList } from '../../engine/model/model-list.ts';
import { reader } from '../../engine/model/schema.ts';

const models = reader(
  Type.Object({
    models: Type.Array(
      Type.Object({
        name: Type.String(),
        supportedGenerationMethods: Type.Optional(Type.Array(Type.String())),
      }),
    ),
    nextPageToken: Type.Optional(Type.String()),
  }),
);

const query = 'pageSize=1000';

/** The models that write text, under the names that requests give them. Source: Gemini API reference, "models.list". */
export const geminiModelList: ModelList = {
  query,
  decode(body) {
    if (!models.matches(body)) return noModelList();
    const { nextPageToken: next } = body;
    return {
      models: body.models
        .filter(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
        .map(({ name }) => name.replace(/^models\//, '')),
      ...(next && { next: `${query}&pageToken=${encodeURIComponent(next)}` }),
    };
  },
};
