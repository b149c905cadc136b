import { TextDecoder } from 'node:util';
import { concatMap, defer, finalize, from, isObservable, map, type Observable, type ObservableInput } from 'rxjs';
import Type, { type Static, type TSchema } from 'typebox';
import { defaultSettings } from '../engine/config/sections/service-settings.ts';
import type { RouteOperation } from '../engine/http/documented-route.ts';
import type { Endpoint, FormatFault, HttpRequest, Params, ReplyPart, WholeReply } from '../engine/http/endpoint.ts';
import { type FaultKind, fail } from '../engine/model/fault.ts';
import { isJsonObject, isWithinDepth, type Json, type JsonObject, parseJson } from '../engine/model/json/json.ts';
import type { Headers } from '../engine/model/protocol.ts';
import { type Backpressure, Gate } from '../engine/runtime/backpressure.ts';
import { compressed } from './content-coding.ts';
import type { Outcome } from './schema.ts';

/** An operation of the service's own API whose status 200 is JSON. */
interface Operation<S extends TSchema, A> {
  readonly summary: string;
  /** The meaning of status 200. */
  readonly says: string;
  readonly reply: S;
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Schema of the request body. It only describes: `answer` reads the body. */
  readonly request?: TSchema;
  /** May throw faults. */
  readonly answer: (request: HttpRequest, params: Params) => A;
}

/** Creates an operation that replies with what `answer` returns. It requires the key. */
export const jsonOperation = <S extends TSchema>({
  answer,
  ...operation
}: Operation<S, Static<S> | Promise<Static<S>> | Observable<Static<S>>>): RouteOperation =>
  adminOperation({
    ...operation,
    answer: (request, params) => {
      const answered = answer(request, params);
      const body = isObservable(answered) ? answered : from(Promise.resolve(answered));
      return body.pipe(map((value) => jsonTextReply(JSON.stringify(value))));
    },
  });

/** Like `jsonOperation`, for answers that aren't always JSON with status 200. */
export const adminOperation = ({
  says,
  reply,
  answer,
  ...operation
}: Operation<TSchema, ObservableInput<ReplyPart>>): RouteOperation => ({
  endpoint: adminEndpoint(answer),
  doc: {
    ...operation,
    group: 'management',
    answers: { 200: { description: says, content: { 'application/json': reply } } },
    fault: ServiceFault,
  },
});

type Answer = Operation<TSchema, ObservableInput<ReplyPart>>['answer'];

/** Creates an endpoint of the service's own API, which requires the key. Whole JSON answers are compressed. */
export const adminEndpoint = (answer: Answer): Endpoint => ({
  open: false,
  formatFault,
  handle: (request, params) =>
    defer(() => answer(request, params)).pipe(concatMap((part) => compressed(part, request))),
});

/** Creates an endpoint of the service's own API that needs no key. */
export const openEndpoint = (answer: Answer): Endpoint => ({ ...adminEndpoint(answer), open: true });

/** A JSON reply that must not be cached. */
export const jsonReply = (body: Json, status = 200, headers: Headers = {}): WholeReply =>
  jsonTextReply(JSON.stringify(body), status, headers);

/** Like `jsonReply`, for a body that is JSON text already. */
export const jsonTextReply = (body: string, status = 200, headers: Headers = {}): WholeReply => ({
  type: 'whole',
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
});

/** The outcome of an operation that succeeded. */
export const done = (message: string): Outcome => ({ success: true, message });

/** Fault body of the service's own endpoints. */
export const ServiceFault = Type.Object({ success: Type.Literal(false), message: Type.String() });

/** Statuses of faults in the service's own endpoints; any other kind is a bug (500). */
const statuses: Partial<Record<FaultKind, number>> = {
  'invalid-request': 400,
  unsupported: 400,
  'no-route': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'read-only': 409,
  'method-not-allowed': 405,
  'upgrade-refused': 426,
  'request-timeout': 408,
  'too-large': 413,
  'unsupported-encoding': 415,
  'rate-limited': 429,
  'budget-exceeded': 429,
  unavailable: 503,
};

/** Formats a fault for the service's own endpoints. */
export const formatFault: FormatFault = ({ kind, message }) => ({
  status: statuses[kind] ?? 500,
  body: { success: false, message },
});

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request's body as a JSON object. Throws an `invalid-request` fault for other bodies, and for nesting deeper than
 * `maxDepth` levels.
 */
export const readJsonBody = (body: Uint8Array, maxDepth: number = defaultSettings().limits.jsonDepth): JsonObject => {
  const value = parseJson(decode(body));
  if (value === undefined) return fail('invalid-request', 'The body is not valid JSON.');
  if (!isWithinDepth(value, maxDepth)) fail('invalid-request', `The body is nested deeper than ${maxDepth} levels.`);
  return isJsonObject(value) ? value : fail('invalid-request', 'The body must be a JSON object.');
};

const decode = (body: Uint8Array): string => {
  try {
    return utf8.decode(body);
  } catch {
    return fail('invalid-request', 'The body is not valid UTF-8.');
  }
};

/** Reads a whole number of a query; `otherwise` if it is absent. Throws an `invalid-request` fault that names the parameter. */
export const readNumber = (
  params: URLSearchParams,
  name: string,
  min: number,
  max: number,
  otherwise: number,
): number => {
  const text = params.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : fail('invalid-request', `${name} must be a whole number from ${min} to ${max}.`, { param: name });
};

/** Emits what a generator yields; it waits for the gate while the client is slow. */
export const gated = <T>(backpressure: Backpressure, parts: (gate: Gate) => AsyncIterable<T>): Observable<T> => {
  const gate = new Gate();
  backpressure.attach(gate);
  // Resumes on disconnect, so that a paused generator doesn't stay.
  return from(parts(gate)).pipe(finalize(() => gate.resume()));
};
