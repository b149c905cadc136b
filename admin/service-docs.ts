import Type from 'typebox';
import { ConfigFile } from '../engine/config/schema.ts';
import { describe } from './endpoint.ts';
import type { OperationDoc } from './operation-doc.ts';

const Done = Type.Object({ success: Type.Boolean(), message: Type.String() });

const backupName = Type.Object({ name: Type.String({ description: 'As the list of backups names it.' }) });

const logFile = { file: Type.String({ description: 'A log file as the list of them names it; default: app.log.' }) };

/** Descriptions of the management endpoints, by method and path. */
export const serviceDocs: Readonly<Record<string, OperationDoc>> = {
  'GET /': describe(
    'A sign of life for clients that look before they start',
    'The service is here.',
    Type.Object({ service: Type.String() }),
  ),
  'GET /api/config': describe('The configuration', 'The configuration as written.', ConfigFile),
  'POST /api/config': describe('Replaces the configuration', 'It is in effect.', Done, { request: ConfigFile }),
  'GET /api/config/backups': describe('Earlier configurations, newest first', 'The list.', Type.Unknown()),
  'POST /api/config/restore': describe('Takes an earlier configuration', 'It is in effect.', Done, {
    request: backupName,
  }),
  'GET /api/graph': describe(
    'The steps that requests run through',
    'One graph for each client protocol and route.',
    Type.Object({ graphs: Type.Array(Type.Object({ client: Type.String(), provider: Type.String() })) }),
    {
      query: {
        client: Type.String({ description: 'One client protocol.' }),
        provider: Type.String({ description: 'One provider; needs `model`.' }),
        model: Type.String({ description: 'A model, as a request would name it.' }),
      },
    },
  ),
  'GET /api/logs/files': describe(
    'The log files, newest first',
    'The list.',
    Type.Array(
      Type.Object({
        name: Type.String(),
        path: Type.String(),
        size: Type.Integer(),
        lastModified: Type.String({ format: 'date-time' }),
      }),
    ),
  ),
  'GET /api/logs': describe('One log file', 'Its lines, each a record as JSON text.', Type.Array(Type.String()), {
    query: {
      ...logFile,
      limit: Type.Integer({ minimum: 1, description: 'So many of the newest lines.' }),
      after: Type.Integer({
        minimum: 0,
        description: 'Only lines from this byte on, as `x-switchyard-log-offset` of an earlier answer told it.',
      }),
    },
  }),
  'DELETE /api/logs': describe('Clears one log file', 'It is empty.', Done, { query: logFile }),
  'POST /api/restart': describe('Restarts the service', 'The restart has begun.', Done),
};
