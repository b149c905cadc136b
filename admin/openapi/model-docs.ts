import Type, { type TSchema } from 'typebox';
import type { OperationDoc } from '../../engine/http/documented-route.ts';
import { PlainModel } from '../schema.ts';

/** Schemas of a client protocol's model route. */
interface RouteSchemas {
  /** Display name of the protocol. */
  readonly title: string;
  readonly request: TSchema;
  readonly reply: TSchema;
  readonly fault: TSchema;
}

/** Description of a model route. */
export const modelRouteDoc = ({ title, request, reply, fault }: RouteSchemas): OperationDoc => ({
  summary: `Asks a model, in the ${title} protocol`,
  group: 'models',
  request,
  answers: {
    200: {
      description:
        "The answer: whole, or as a stream of the protocol's own events where the request has `stream: true`.",
      content: { 'application/json': reply, 'text/event-stream': Type.String() },
    },
  },
  fault,
});

const PagedModel = Type.Object({
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  max_input_tokens: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: unknown.' }),
  max_tokens: Type.Union([Type.Integer(), Type.Null()], { description: 'Of an answer. Null: unknown.' }),
});

const orNull = Type.Union([Type.String(), Type.Null()]);

/** Common members of both error shapes. */
const ModelFault = Type.Object({ error: Type.Object({ message: Type.String(), type: Type.String() }) });

const jsonDoc = (summary: string, says: string, schema: TSchema): OperationDoc => ({
  summary,
  group: 'models',
  answers: { 200: { description: says, content: { 'application/json': schema } } },
});

/** `GET /v1/models`. */
export const modelsDoc: OperationDoc = {
  ...jsonDoc(
    'All names that a request may ask for',
    'The list, in the shape of the client that asks: in pages where it sends a version header.',
    Type.Union([
      Type.Object({ object: Type.Literal('list'), data: Type.Array(PlainModel) }),
      Type.Object({ data: Type.Array(PagedModel), has_more: Type.Boolean(), first_id: orNull, last_id: orNull }),
    ]),
  ),
  query: {
    limit: Type.Integer({ minimum: 1, maximum: 1000, description: 'Rows of a page, where the list comes in pages.' }),
    after_id: Type.String({ description: 'The page that follows this model.' }),
    before_id: Type.String({ description: 'The page that ends before this model.' }),
  },
  fault: ModelFault,
};

/** `GET /v1/models/{id}`. */
export const modelDoc: OperationDoc = {
  ...jsonDoc('One of these names', 'The model.', Type.Union([PlainModel, PagedModel])),
  fault: ModelFault,
};

const tokens = Type.Integer({ minimum: 0 });

/** `POST /v1/messages/count_tokens`; the protocol adds the request's schema. */
export const countTokensDoc = jsonDoc(
  "A prompt's tokens, counted by the upstream where it can, else estimated",
  'The count.',
  Type.Object({ input_tokens: tokens }),
);

/** `POST /v1/responses/input_tokens`; the protocol adds the request's schema. */
export const inputTokensDoc = jsonDoc(
  "A prompt's tokens, as estimated by the gateway",
  'The count.',
  Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: tokens }),
);

/** `POST /v1/responses/compact`; the protocol adds the request's schema. */
export const compactDoc = jsonDoc(
  'A summary in place of a conversation',
  "The user's messages and a compaction item; the upstream's own answer, where it has compaction.",
  Type.Object({ output: Type.Array(Type.Object({ type: Type.String() })) }),
);
