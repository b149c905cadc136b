import Type, { type TSchema } from 'typebox';
import type { OperationDoc } from './operation-doc.ts';

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
      says: "The answer: whole, or as a stream of the protocol's own events where the request has `stream: true`.",
      content: { 'application/json': reply, 'text/event-stream': Type.String() },
    },
  },
  fault,
});
