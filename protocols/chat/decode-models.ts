import Type from 'typebox';
import { type ModelList, noModelList } from '../../engine/model/model-list.ts';
import { reader } from '../../engine/model/schema.ts';

const models = reader(Type.Object({ data: Type.Array(Type.Object({ id: Type.String() })) }));

/** The models as OpenAI lists them, all on one page. Source: OpenAI API reference, "List models". */
export const chatModelList: ModelList = {
  decode: (body) => (models.matches(body) ? { models: body.data.map(({ id }) => id) } : noModelList()),
};
