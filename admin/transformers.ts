import { of } from 'rxjs';
import type { Row } from '../engine/http/site.ts';
import type { JsonObject } from '../engine/model/json.ts';
import type { Tables } from '../engine/yard/tables.ts';
import { jsonReply } from './json-reply.ts';
import { wordFault } from './word-fault.ts';

/** `GET /api/transformers`: all that are loaded, formats with the path that they call. */
export const transformerRows = (tables: () => Tables): readonly Row[] => [
  {
    method: 'GET',
    path: '/api/transformers',
    endpoint: { open: false, wordFault, handle: () => of(jsonReply({ transformers: list(tables()) })) },
  },
];

const list = ({ formats, stages, custom }: Tables): JsonObject[] => {
  const modules = [...custom.values()].flatMap((loaded) => ('stage' in loaded ? [loaded.stage.name] : []));
  const named = new Set([...stages.keys(), ...modules]);
  return [
    ...[...formats.values()].map(({ name, path }) => ({ name, endpoint: path })),
    ...[...named].map((name) => ({ name, endpoint: null })),
  ];
};
