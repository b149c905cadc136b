import Type from 'typebox';
import type { OperationDoc } from './operation-doc.ts';

/** Fault body of the service's own endpoints. */
export const ServiceFault = Type.Object({ success: Type.Literal(false), message: Type.String() });

const status = (...words: readonly string[]) =>
  Type.Object({ status: Type.Union(words.map((word) => Type.Literal(word))) });

/** `GET /health` and `/health/ready`. */
export const readyDoc: OperationDoc = {
  summary: 'Whether requests are served',
  group: 'operation',
  answers: {
    200: { says: 'They are.', content: { 'application/json': status('ok') } },
    503: { says: 'They are not.', content: { 'application/json': status('draining', 'misconfigured') } },
  },
  fault: ServiceFault,
};

/** `GET /health/live`. */
export const liveDoc: OperationDoc = {
  summary: 'Whether the process answers',
  group: 'operation',
  answers: { 200: { says: 'It does.', content: { 'application/json': status('ok') } } },
  fault: ServiceFault,
};

/** `GET /metrics`. */
export const metricsDoc: OperationDoc = {
  summary: 'Counters, in the text format of Prometheus',
  group: 'operation',
  answers: { 200: { says: 'The counters.', content: { 'text/plain': Type.String() } } },
  fault: ServiceFault,
};

/** `GET /openapi.json`. */
export const openApiDoc: OperationDoc = {
  summary: 'This description',
  group: 'operation',
  answers: {
    200: {
      says: 'The description, as OpenAPI 3.1.',
      content: {
        'application/json': Type.Object({
          openapi: Type.String(),
          info: Type.Object({ title: Type.String(), version: Type.String() }),
          paths: Type.Object({}),
        }),
      },
    },
  },
  fault: ServiceFault,
};

/** `POST /v1/messages/count_tokens`; the protocol adds the request's schema. */
export const countTokensDoc: OperationDoc = {
  summary: "A prompt's tokens, counted by the upstream where it can, else estimated",
  group: 'models',
  answers: {
    200: {
      says: 'The count.',
      content: { 'application/json': Type.Object({ input_tokens: Type.Integer({ minimum: 0 }) }) },
    },
  },
};

/** `POST /v1/responses/input_tokens`; the protocol adds the request's schema. */
export const inputTokensDoc: OperationDoc = {
  summary: "A prompt's tokens, as estimated by the gateway",
  group: 'models',
  answers: {
    200: {
      says: 'The count.',
      content: {
        'application/json': Type.Object({
          object: Type.Literal('response.input_tokens'),
          input_tokens: Type.Integer({ minimum: 0 }),
        }),
      },
    },
  },
};

/** `POST /v1/responses/compact`; the protocol adds the request's schema. */
export const compactDoc: OperationDoc = {
  summary: 'Compacts a conversation, where the upstream speaks Responses itself',
  group: 'models',
  answers: {
    200: {
      says: "The upstream's own answer.",
      content: { 'application/json': Type.Object({ output: Type.Array(Type.Object({ type: Type.String() })) }) },
    },
  },
};
