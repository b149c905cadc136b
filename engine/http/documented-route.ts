import type { TSchema } from 'typebox';
import type { HttpRoute } from './router.ts';

/** A route with an optional OpenAPI description. */
export interface DocumentedRoute extends HttpRoute {
  /** A function loads it. Absent: served, but not listed in `/openapi.json`. */
  readonly doc?: OperationDoc | (() => Promise<OperationDoc | undefined>) | undefined;
}

/** What is done at a route, wherever it is. */
export type RouteOperation = Pick<DocumentedRoute, 'endpoint' | 'doc'>;

/** A route's description, loaded if need be. */
export const docOf = async ({ doc }: RouteOperation): Promise<OperationDoc | undefined> =>
  typeof doc === 'function' ? doc() : doc;

/** OpenAPI description of a route. */
export interface OperationDoc {
  /** One line. */
  readonly summary: string;
  /** Tag that groups it. */
  readonly group: 'models' | 'management' | 'operation';
  /** Query parameters by name. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Schema of the JSON request body. */
  readonly request?: TSchema;
  /** Replies by status, without faults. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Schema of fault bodies. */
  readonly fault?: TSchema;
}

/** Description of a reply. */
interface AnswerDoc {
  readonly description: string;
  /** Body schemas by media type. Absent: no body. */
  readonly content?: Readonly<Record<string, TSchema>>;
}
