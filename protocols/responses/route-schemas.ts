import Type from 'typebox';
import { Body } from './schema.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);

/** The protocol for the description of the service. Source: OpenAI API reference, "Create a model response". */
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
