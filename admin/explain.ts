import { defer, map } from 'rxjs';
import Type from 'typebox';
import type { Config } from '../engine/config/config.ts';
import { explain, smallRequest } from '../engine/explain.ts';
import type { Endpoint } from '../engine/http/endpoint.ts';
import type { Incoming } from '../engine/http/incoming.ts';
import { fail } from '../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../engine/model/json.ts';
import type { ClientProtocol } from '../engine/model/protocol.ts';
import { reader } from '../engine/model/schema.ts';
import type { Yard } from '../engine/yard/yard.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { readJsonBody } from './read-json-body.ts';
import { wordFault } from './word-fault.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));

const fields = {
  client: text('The client protocol: `messages` (the default), `chat` or `responses`.'),
  model: text('Instead of a body: the model of a small request.'),
  text: text("That request's text."),
};

const ExplainRequest = Type.Object({
  ...fields,
  body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'A request, as a client sends it.' })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "The client's headers." })),
});

const requestReader = reader(ExplainRequest);

/**
 * `POST /api/explain` (a request in the body) and `GET` (a small one from the query): what would become of it. No upstream is
 * called.
 */
export const explainRows = (yard: () => Yard, clients: readonly ClientProtocol[]): readonly DocumentedRow[] => {
  const endpoint: Endpoint = {
    open: false,
    wordFault,
    handle: (incoming) =>
      defer(() => explain(questionOf(incoming, clients, yard().config), yard())).pipe(map((body) => jsonReply(body))),
  };
  return [
    { method: 'GET', path: '/api/explain', endpoint, doc: { ...explainDoc, query: fields } },
    { method: 'POST', path: '/api/explain', endpoint, doc: { ...explainDoc, request: ExplainRequest } },
  ];
};

const questionOf = (
  { method, query, body, startedAtMs }: Incoming,
  clients: readonly ClientProtocol[],
  { limits }: Config,
) => {
  const written =
    method === 'POST' ? readJsonBody(body, limits.jsonDepth) : Object.fromEntries(new URLSearchParams(query));
  const asked = requestReader.read(written);
  const wire = asked.client ?? 'messages';
  const client = clients.find((row) => row.wire === wire) ?? noClient(clients);
  const headers = Object.entries(asked.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    client,
    body: bodyOf(written) ?? smallRequest(client.wire, asked.model ?? noRequest(), asked.text ?? 'Hello!'),
    headers: Object.fromEntries(headers),
    atMs: startedAtMs,
  };
};

/** As it was parsed: the reader has seen that it is an object. */
const bodyOf = ({ body }: JsonObject): JsonObject | undefined => (isJsonObject(body) ? body : undefined);

const noClient = (clients: readonly ClientProtocol[]): never =>
  fail('invalid-request', `client must be one of ${clients.map(({ wire }) => wire).join(', ')}.`, { param: 'client' });

const noRequest = (): never =>
  fail('invalid-request', 'body is required, or model for a small request.', { param: 'body' });

const explainDoc: OperationDoc = {
  summary: 'What would become of a request',
  group: 'management',
  answers: {
    200: {
      says: 'The decision, and the call that would be made.',
      content: {
        'application/json': Type.Object({
          client: Type.String(),
          scenario: Type.String(),
          reason: Type.String(),
          provider: Type.String(),
          model: Type.String(),
          url: Type.String(),
          headers: Type.Record(Type.String(), Type.String()),
          losses: Type.Array(Type.Object({ path: Type.String(), outcome: Type.String(), step: Type.String() })),
          relays: Type.Object({ request: Type.Boolean(), reply: Type.Boolean() }),
          fallbacks: Type.Array(
            Type.Object({
              provider: Type.String(),
              model: Type.String(),
              format: Type.String(),
              fault: Type.Union([Type.String(), Type.Null()], { description: 'Why it can not be used.' }),
            }),
            { description: 'Who is asked when this destination can not serve, in order.' },
          ),
        }),
      },
    },
  },
  fault: ServiceFault,
};
