import { defer, type ObservableInput } from 'rxjs';
import type { TSchema } from 'typebox';
import type { Endpoint, HttpRequest, Params, ReplyPart } from '../engine/http/endpoint.ts';
import { formatFault } from './format-fault.ts';
import type { OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';

type Answer = (request: HttpRequest, params: Params) => ObservableInput<ReplyPart>;

/** Creates an endpoint of the service's own API, which requires the key. `answer` may throw faults. */
export const adminEndpoint = (answer: Answer): Endpoint => ({
  open: false,
  formatFault,
  handle: (request, params) => defer(() => answer(request, params)),
});

/** Creates an endpoint of the service's own API that needs no key, and also answers while the service drains. */
export const openEndpoint = (answer: Answer): Endpoint => ({ ...adminEndpoint(answer), open: true });

/** Describes a management endpoint that replies with JSON; `says` is the meaning of its status 200. */
export const describe = (
  summary: string,
  says: string,
  schema: TSchema,
  more: Partial<OperationDoc> = {},
): OperationDoc => ({
  summary,
  group: 'management',
  answers: { 200: { says, content: { 'application/json': schema } } },
  fault: ServiceFault,
  ...more,
});
