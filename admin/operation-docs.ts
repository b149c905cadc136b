import Type from 'typebox';
import type { OperationDoc } from './operation-doc.ts';

/** How the service's own endpoints word a fault. */
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

/** `POST /v1/messages/count_tokens`; the request's schema is its protocol's own. */
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
