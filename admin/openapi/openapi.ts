import { from, map } from 'rxjs';
import Type, { type TSchema } from 'typebox';
import { type DocumentedRoute, docOf, type OperationDoc } from '../../engine/http/documented-route.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json/json.ts';
import { adminEndpoint, jsonReply, ServiceFault } from '../endpoint.ts';

/** Describes all routes as OpenAPI 3.1. */
export const openApiOperations = (routes: () => readonly DocumentedRoute[], version: string) => {
  let description: Promise<JsonObject> | undefined;
  return {
    document: {
      endpoint: adminEndpoint(() => {
        description ??= openApiDocument(routes(), version);
        return from(description).pipe(map((document) => jsonReply(document)));
      }),
      doc: openApiDoc,
    },
  };
};

/** Describes all routes that have a description. Source: OpenAPI Specification 3.1.0, whose schemas are JSON Schema. */
export const openApiDocument = async (routes: readonly DocumentedRoute[], version: string): Promise<JsonObject> => {
  const paths: Record<string, JsonDraft> = {};
  for (const route of routes) {
    const doc = await docOf(route);
    if (!doc) continue;
    const path = templateOf(route.path);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route, doc);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Junctor', version, description: 'A gateway that routes requests for language models.' },
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  };
};

/** `/v1/models/:id` → `/v1/models/{id}`; a final `*` becomes `{rest}`. */
const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');

const operation = ({ method, path, endpoint }: DocumentedRoute, doc: OperationDoc): JsonObject => ({
  operationId: operationId(method, path),
  summary: doc.summary,
  tags: [doc.group],
  security: endpoint.open ? [] : [{ bearer: [] }, { key: [] }],
  parameters: [
    ...[...templateOf(path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(doc.query ?? {}).map(([name, schema]) => ({ name, in: 'query', schema: plain(schema) })),
  ],
  ...(doc.request && {
    requestBody: { required: true, content: { 'application/json': { schema: plain(doc.request) } } },
  }),
  responses: {
    ...Object.fromEntries(
      Object.entries(doc.answers).map(([status, { description: says, content }]) => [
        status,
        { description: says, ...(content && { content: contentOf(content) }) },
      ]),
    ),
    ...(doc.fault && {
      default: { description: 'What went wrong.', content: contentOf({ 'application/json': doc.fault }) },
    }),
  },
});

const contentOf = (content: Readonly<Record<string, TSchema>>): JsonObject =>
  Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: plain(schema) }]));

/** `GET /v1/models/:id` → `getV1ModelsId`. */
const operationId = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .replace(/\*$/, 'rest')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Serializing drops typebox's symbols. */
const plain = (schema: TSchema): JsonObject => JSON.parse(JSON.stringify(schema));

const openApiDoc: OperationDoc = {
  summary: 'This description',
  group: 'operation',
  answers: {
    200: {
      description: 'The description, as OpenAPI 3.1.',
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
