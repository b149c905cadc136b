import Type from 'typebox';
import { CountBody, MessagesBody } from './schema-request.ts';

/** The protocol's schemas for the API description. Source: Anthropic API reference, "Create a Message". */
export const messagesSchemas = {
  title: 'Messages',
  request: MessagesBody,
  reply: Type.Object({
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(Type.Object({ type: Type.String() })),
    stop_reason: Type.Union([Type.String(), Type.Null()]),
    usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
  }),
  fault: Type.Object({
    type: Type.Literal('error'),
    error: Type.Object({ type: Type.String(), message: Type.String() }),
    request_id: Type.String(),
  }),
};

/** The body of a token count request. */
export const messagesCountRequest = CountBody;
