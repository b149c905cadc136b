import Type from 'typebox';
import { type ModelList, noModelList } from '../../engine/model/model-list.ts';
import { reader } from '../../engine/model/schema.ts';

const models = reader(
  Type.Object({
    data: Type.Array(Type.Object({ id: Type.String() })),
    has_more: Type.Optional(Type.Boolean()),
    last_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
);

const query = 'limit=1000';

/** The models as Anthropic lists them. Source: Anthropic API reference, "List Models". */
export const messagesModelList: ModelList = {
  query,
  decode(body) {
    if (!models.matches(body)) return noModelList();
    const { data, has_more: more, last_id: last } = body;
    return {
      models: data.map(({ id }) => id),
      ...(more && last && { next: `${query}&after_id=${encodeURIComponent(last)}` }),
    };
  },
};
