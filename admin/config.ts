import { defer, map, of } from 'rxjs';
import Type from 'typebox';
import type { Backup } from '../engine/config/backups.ts';
import type { Change } from '../engine/config/change.ts';
import { wordFinding } from '../engine/config/findings.ts';
import type { ConfigStore } from '../engine/config/store.ts';
import type { Row } from '../engine/http/site.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json.ts';
import { reader } from '../engine/model/schema.ts';
import type { WholeReply } from '../engine/reply-part.ts';
import { jsonReply } from './json-reply.ts';
import { readJsonBody } from './read-json-body.ts';
import { wordFault } from './word-fault.ts';

const restoreBody = reader(
  Type.Object({ name: Type.String({ description: "A backup's name, as `GET /api/config/backups` lists it." }) }),
);

/**
 * The configuration: `GET /api/config` tells it as written, `POST` replaces it whole. `GET /api/config/backups` lists earlier
 * ones, newest first, and `POST /api/config/restore` takes one of them. A change that was begun is carried through even if the
 * client leaves.
 */
export const configRows = (store: ConfigStore): readonly Row[] => [
  {
    method: 'GET',
    path: '/api/config',
    endpoint: { open: false, wordFault, handle: () => defer(() => of(jsonReply(store.written))) },
  },
  {
    method: 'POST',
    path: '/api/config',
    endpoint: {
      open: false,
      wordFault,
      handle: ({ body }) => defer(() => store.replace(readBody(store, body))).pipe(map((change) => tell(change))),
    },
  },
  {
    method: 'GET',
    path: '/api/config/backups',
    endpoint: {
      open: false,
      wordFault,
      handle: () => defer(() => store.listBackups()).pipe(map((backups) => jsonReply({ backups: backups.map(show) }))),
    },
  },
  {
    method: 'POST',
    path: '/api/config/restore',
    endpoint: {
      open: false,
      wordFault,
      handle: ({ body }) =>
        defer(() => store.restore(restoreBody.read(readBody(store, body)).name)).pipe(
          map((change) => (change ? tell(change) : fail('not-found', 'There is no backup of that name.'))),
        ),
    },
  },
];

const readBody = ({ config }: ConfigStore, body: Uint8Array): JsonObject => readJsonBody(body, config.limits.jsonDepth);

/** One element of the list of backups: name, the time at which it was replaced (ISO 8601), size in bytes. */
const show = ({ name, atMs, size }: Backup): JsonObject => ({ name, replacedAt: new Date(atMs).toISOString(), size });

const tell = (change: Change): WholeReply => {
  if (change.type === 'refused') {
    const faults = change.faults.map(wordFinding).join('; ');
    return fail('invalid-request', `Nothing was changed: ${faults}.`, { param: change.faults[0]?.path });
  }
  const { restart, warnings } = change;
  const sentences = [
    'The configuration was saved and is in use.',
    ...(restart.length > 0 ? [`A restart is needed for ${restart.join(', ')}.`] : []),
    ...warnings.map((warning) => `Warning: ${wordFinding(warning)}.`),
  ];
  return jsonReply({ success: true, message: sentences.join(' ') });
};
