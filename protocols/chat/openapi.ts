import Type from 'typebox';
import { ChatRequest } from './decode-request/schema-request.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);

/** The protocol's schemas for the API description. Source: OpenAI API reference, "Create chat completion". */
export const chatSchemas = {
  title: 'Chat Completions',
  request: ChatRequest,
  reply: Type.Object({
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.Optional(orNull) }),
        finish_reason: orNull,
      }),
    ),
  }),
  fault: Type.Object({
    error: Type.Object({ message: Type.String(), type: Type.String(), param: orNull, code: orNull }),
  }),
};
