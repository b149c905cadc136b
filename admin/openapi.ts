import { of } from 'rxjs';
import type { TSchema } from 'typebox';
import type { Row } from '../engine/http/site.ts';
import type { JsonDraft, JsonObject } from '../engine/model/json.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { openApiDoc } from './operation-docs.ts';
import { wordFault } from './word-fault.ts';

/** `GET /openapi.json`: what is served, itself included, in the form of OpenAPI 3.1. */
export const openApiRows = (others: readonly DocumentedRow[], version: string): readonly DocumentedRow[] => {
  const row: DocumentedRow = {
    method: 'GET',
    path: '/openapi.json',
    endpoint: { open: false, wordFault, handle: () => of(jsonReply(description)) },
    doc: openApiDoc,
  };
  const description = describe([...others, row], version);
  return [row];
};

/** Gives rows that have no description of their own one by method and path: `GET /api/config`. */
export const withDocs = (
  rows: readonly Row[],
  docs: Readonly<Record<string, OperationDoc>>,
): readonly DocumentedRow[] =>
  rows.map((row: DocumentedRow) => {
    const doc = row.doc ?? docs[`${row.method} ${row.path}`];
    return doc ? { ...row, doc } : row;
  });

/** The description of all rows that have one. Source: OpenAPI Specification 3.1.0; its schemas are JSON Schema as they are. */
export const describe = (rows: readonly DocumentedRow[], version: string): JsonObject => {
  const paths: Record<string, JsonDraft> = {};
  for (const row of rows) {
    if (!row.doc) continue;
    const path = templateOf(row.path);
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = operation(row, row.doc);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', version, description: 'A gateway that routes requests for language models.' },
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  };
};

/** `/v1/models/:id` → `/v1/models/{id}`; what follows a path's last slash is `{rest}`. */
const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');

const operation = ({ method, path, endpoint }: DocumentedRow, doc: OperationDoc): JsonObject => ({
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
      Object.entries(doc.answers).map(([status, { says, content }]) => [
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

/** A schema without what only its validator needs. */
const plain = (schema: TSchema): JsonObject => JSON.parse(JSON.stringify(schema));
