import Type from 'typebox';
import type { OperationDoc } from './operation-doc.ts';

const PlainModel = Type.Object({
  id: Type.String({ description: '`provider,model`, a bare model name, or an alias.' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'When the service started, in seconds since 1970.' }),
  owned_by: Type.String(),
});

const PagedModel = Type.Object({
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
});

const orNull = Type.Union([Type.String(), Type.Null()]);

/** Common members of both error shapes. */
const ModelFault = Type.Object({ error: Type.Object({ message: Type.String(), type: Type.String() }) });

/** `GET /v1/models`. */
export const modelsDoc: OperationDoc = {
  summary: 'All names that a request may ask for',
  group: 'models',
  query: {
    limit: Type.Integer({ minimum: 1, maximum: 1000, description: 'Rows of a page, where the list comes in pages.' }),
    after_id: Type.String({ description: 'The page that follows this model.' }),
    before_id: Type.String({ description: 'The page that ends before this model.' }),
  },
  answers: {
    200: {
      says: 'The list, in the shape of the client that asks: in pages where it sends a version header.',
      content: {
        'application/json': Type.Union([
          Type.Object({ object: Type.Literal('list'), data: Type.Array(PlainModel) }),
          Type.Object({
            data: Type.Array(PagedModel),
            has_more: Type.Boolean(),
            first_id: orNull,
            last_id: orNull,
          }),
        ]),
      },
    },
  },
  fault: ModelFault,
};

/** `GET /v1/models/{id}`. */
export const modelDoc: OperationDoc = {
  summary: 'One of these names',
  group: 'models',
  answers: { 200: { says: 'The model.', content: { 'application/json': Type.Union([PlainModel, PagedModel]) } } },
  fault: ModelFault,
};
