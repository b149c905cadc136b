import Type from 'typebox';
import { Body } from './decode-request/schema-request.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);

/** The protocol's schemas for the API description. Source: OpenAI API reference, "Create a model response". */
export const responsesSchemas = {
  title: 'Responses',
  request: Body,
  reply: Type.Object({
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Number(),
    status: Type.String(),
    model: Type.String(),
    output: Type.Array(Type.Object({ type: Type.String() })),
  }),
  fault: Type.Object({
    error: Type.Object({ message: Type.String(), type: Type.String(), param: orNull, code: orNull }),
  }),
};
