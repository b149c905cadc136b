import Type, { type TSchema } from 'typebox';
import { ConfigFile } from '../engine/config/schema.ts';
import type { OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';

const json = (schema: TSchema) => ({ 'application/json': schema });

const done = json(Type.Object({ success: Type.Boolean(), message: Type.String() }));

const backupName = Type.Object({ name: Type.String({ description: 'As the list of backups names it.' }) });

const logFile = { file: Type.String({ description: 'A log file as the list of them names it; default: app.log.' }) };

const managed = (
  summary: string,
  says: string,
  content: OperationDoc['answers'][number]['content'],
  more: Partial<OperationDoc> = {},
): OperationDoc => ({
  summary,
  group: 'management',
  answers: { 200: { says, ...(content && { content }) } },
  fault: ServiceFault,
  ...more,
});

/** Descriptions of the management endpoints, by method and path. */
export const serviceDocs: Readonly<Record<string, OperationDoc>> = {
  'GET /': managed('A sign of life for clients that look before they start', 'The service is here.', {
    'application/json': Type.Object({ service: Type.String() }),
  }),
  'GET /api/config': managed('The configuration', 'The configuration as written.', json(ConfigFile)),
  'POST /api/config': managed('Replaces the configuration', 'It is in effect.', done, { request: ConfigFile }),
  'GET /api/config/backups': managed('Earlier configurations, newest first', 'The list.', json(Type.Unknown())),
  'POST /api/config/restore': managed('Takes an earlier configuration', 'It is in effect.', done, {
    request: backupName,
  }),
  'GET /api/graph': managed(
    'The steps that requests run through',
    'One graph for each client protocol and route.',
    json(Type.Object({ graphs: Type.Array(Type.Object({ client: Type.String(), provider: Type.String() })) })),
    {
      query: {
        client: Type.String({ description: 'One client protocol.' }),
        provider: Type.String({ description: 'One provider; needs `model`.' }),
        model: Type.String({ description: 'A model, as a request would name it.' }),
      },
    },
  ),
  'GET /api/logs/files': managed(
    'The log files, newest first',
    'The list.',
    json(
      Type.Array(
        Type.Object({
          name: Type.String(),
          path: Type.String(),
          size: Type.Integer(),
          lastModified: Type.String({ format: 'date-time' }),
        }),
      ),
    ),
  ),
  'GET /api/logs': managed('One log file', 'Its lines, each a record as JSON text.', json(Type.Array(Type.String())), {
    query: {
      ...logFile,
      limit: Type.Integer({ minimum: 1, description: 'So many of the newest lines.' }),
      after: Type.Integer({
        minimum: 0,
        description: 'Only lines from this byte on, as `x-switchyard-log-offset` of an earlier answer told it.',
      }),
    },
  }),
  'DELETE /api/logs': managed('Clears one log file', 'It is empty.', done, { query: logFile }),
  'POST /api/restart': managed('Restarts the service', 'The restart has begun.', done),
};
