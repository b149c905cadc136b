import { finalize, from, mergeMap } from 'rxjs';
import Type from 'typebox';
import type { Config } from '../../engine/config/config.ts';
import { explain } from '../../engine/endpoints/explain.ts';
import type { HttpRequest } from '../../engine/http/endpoint.ts';
import { fail } from '../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import { reader } from '../../engine/model/schema.ts';
import { clientWires } from '../../engine/model/wire/client-wires.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { jsonOperation, readJsonBody } from '../endpoint.ts';
import { Explanation } from '../schema.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));

const fields = {
  client: text(`The client protocol: ${clientWires.join(', ')}. Default: messages.`),
  model: text('Instead of a body: the model of a small request.'),
  text: text("That request's text."),
};

const ExplainRequest = Type.Object({
  ...fields,
  body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'A request, as a client sends it.' })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "The client's headers." })),
  path: text("The request's path; default: the usual one of its protocol."),
  key: text('The name of the client in `CLIENTS` whose key it carries.'),
  preset: text('The preset, for rules that look at it. The configuration is the base all the same.'),
  at: Type.Optional(Type.String({ format: 'date-time', description: 'When it is sent; default: now.' })),
  stages: Type.Optional(Type.Boolean({ description: 'Also the request before and after each stage. Default: false.' })),
  configuration: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Explained by this one; default: the one in use.' }),
  ),
});

const requestReader = reader(ExplainRequest, { compiled: false });

/**
 * `POST /api/explain` (a request in the body) and `GET` (a minimal one from the query): explains a request. Calls no upstream.
 */
export const explainOperations = (
  gateway: () => Gateway,
  clients: readonly ClientProtocol[],
  /** Builds a configuration for inspection; rejects with a fault if it can't be used. */
  aside: (source: JsonObject) => Promise<Gateway>,
) => {
  const answer = (request: HttpRequest) => {
    const active = gateway();
    const { configuration, question } = questionOf(request, clients, active.config);
    if (!configuration) return explain(question, active);
    return from(aside(configuration)).pipe(
      mergeMap((other) =>
        explain(question, other).pipe(
          finalize(() => {
            if (other.upstreams !== active.upstreams) void other.upstreams.close();
          }),
        ),
      ),
    );
  };
  return {
    explain: jsonOperation({
      ...explainDoc,
      query: fields,
      answer: answer,
    }),
    explainBody: jsonOperation({
      ...explainDoc,
      request: ExplainRequest,
      answer: answer,
    }),
  };
};

const questionOf = (
  { method, query, body, startedAtMs }: HttpRequest,
  clients: readonly ClientProtocol[],
  { limits }: Config,
) => {
  const source =
    method === 'POST' ? readJsonBody(body, limits.jsonDepth) : Object.fromEntries(new URLSearchParams(query));
  const asked = requestReader.read(source);
  const wire = asked.client ?? 'messages';
  const client = clients.find((row) => row.wire === wire) ?? noClient(clients);
  const headers = Object.entries(asked.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const question = {
    client,
    body: objectAt(source, 'body') ?? client.question(asked.model ?? noRequest(), asked.text ?? 'Hello!'),
    headers: Object.fromEntries(headers),
    origin: {
      ...(asked.path !== undefined && { path: asked.path }),
      ...(asked.preset !== undefined && { preset: asked.preset }),
      ...(asked.key !== undefined && { key: asked.key }),
    },
    atMs: asked.at === undefined ? startedAtMs : Date.parse(asked.at),
    stages: asked.stages ?? false,
  };
  return { configuration: objectAt(source, 'configuration'), question };
};

/** A member as parsed; the reader has checked that it is an object. */
const objectAt = (source: JsonObject, name: string): JsonObject | undefined => {
  const value = source[name];
  return isJsonObject(value) ? value : undefined;
};

const noClient = (clients: readonly ClientProtocol[]): never =>
  fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`, { param: 'client' });

const noRequest = (): never =>
  fail('invalid-request', 'body is required, or model for a small request.', { param: 'body' });

const explainDoc = {
  summary: 'What would become of a request',
  says: 'The decision, and the call that would be made.',
  reply: Explanation,
};
