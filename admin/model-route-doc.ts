import Type, { type TSchema } from 'typebox';
import type { OperationDoc } from './operation-doc.ts';

/** What a client protocol's part of the description is made from. */
export interface RouteSchemas {
  /** The protocol's name, for people. */
  readonly title: string;
  readonly request: TSchema;
  readonly reply: TSchema;
  readonly fault: TSchema;
}

/** A route that asks a model. */
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
