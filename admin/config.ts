import { createHash } from 'node:crypto';
import { of } from 'rxjs';
import Type from 'typebox';
import type { Backup } from '../engine/config/backups.ts';
import type { Change } from '../engine/config/change.ts';
import { type Finding, formatFinding } from '../engine/config/diagnostics.ts';
import { ConfigFile } from '../engine/config/schema.ts';
import type { ConfigStore } from '../engine/config/store.ts';
import type { HttpRequest, WholeReply } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json/json.ts';
import { reader } from '../engine/model/schema.ts';
import { adminEndpoint, describe } from './endpoint.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRoute } from './operation-doc.ts';
import { readJsonBody } from './read-json-body.ts';

const restoreBody = reader(
  Type.Object({ name: Type.String({ description: "A backup's name, as `GET /api/config/backups` lists it." }) }),
);

/**
 * Endpoints of the configuration. A change that has begun completes even if the client disconnects.
 *
 * - `GET /api/config`: the configuration as written, with an entity tag.
 * - `POST /api/config`: replaces it; with `if-match`, only if the tag still matches.
 * - `POST /api/config/check`: validates a configuration.
 * - `GET /api/config/schema`: its JSON Schema.
 * - `GET /api/config/backups`, `/{name}`: earlier configurations, newest first; one of them.
 * - `POST /api/config/restore`: restores a backup.
 */
export const configRoutes = (store: ConfigStore): readonly DocumentedRoute[] => {
  return [
    {
      method: 'GET',
      path: '/api/config',
      endpoint: adminEndpoint(() => of(jsonReply(store.written, 200, { etag: etagOf(store.written) }))),
    },
    { method: 'POST', path: '/api/config', endpoint: adminEndpoint((incoming) => replace(store, incoming)) },
    {
      method: 'POST',
      path: '/api/config/check',
      endpoint: adminEndpoint(async ({ body }) => {
        const { faults, warnings, restart } = await store.check(readBody(store, body));
        return jsonReply({
          faults: faults.map(showFinding),
          warnings: warnings.map(showFinding),
          restart: [...restart],
        });
      }),
      doc: checkDoc,
    },
    {
      method: 'GET',
      path: '/api/config/schema',
      endpoint: adminEndpoint(() => of(jsonReply(configSchema))),
      doc: schemaDoc,
    },
    {
      method: 'GET',
      path: '/api/config/backups',
      endpoint: adminEndpoint(async () => jsonReply({ backups: (await store.listBackups()).map(show) })),
    },
    {
      method: 'GET',
      path: '/api/config/backups/:name',
      endpoint: adminEndpoint(async (_, { name = '' }) => {
        const parsed = (await store.readBackup(name)) ?? noBackup();
        if ('written' in parsed) return jsonReply(parsed.written);
        return fail('invalid-request', `That backup can't be read: ${parsed.faults.map(formatFinding).join('; ')}.`);
      }),
      doc: backupDoc,
    },
    {
      method: 'POST',
      path: '/api/config/restore',
      endpoint: adminEndpoint(async ({ body }) =>
        changeReply((await store.restore(restoreBody.read(readBody(store, body)).name)) ?? noBackup()),
      ),
    },
  ];
};

const noBackup = (): never => fail('not-found', 'There is no backup of that name.');

const replace = async (store: ConfigStore, { body, headers }: HttpRequest): Promise<WholeReply> => {
  const written = readBody(store, body);
  const tags = headers['if-match'];
  if (tags === undefined) return changeReply(await store.replace(written));
  const change = await store.replaceIf((present) => matchesTag(etagOf(present), tags), written);
  if (change) return changeReply(change);
  const message =
    'Nothing was changed: the configuration was changed by somebody else since it was read. Read it again, and make the change there.';
  return jsonReply({ success: false, message }, 412, { etag: etagOf(store.written) });
};

/** Entity tag of a configuration. Source: RFC 9110, "ETag". */
const etagOf = (written: JsonObject): string =>
  `"${createHash('sha256').update(JSON.stringify(written)).digest('base64url').slice(0, 22)}"`;

/** Whether an `If-Match` list contains this tag or `*`. Source: RFC 9110, "If-Match". */
const matchesTag = (tag: string, tags: string): boolean =>
  tags.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));

const showFinding = ({ path, message }: Finding): JsonObject => ({ path, message });

/** JSON Schema of `config.json`, for editors. */
const configSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Switchyard configuration',
  // Serializing drops typebox's symbols.
  ...JSON.parse(JSON.stringify(ConfigFile)),
};

const readBody = ({ config }: ConfigStore, body: Uint8Array): JsonObject => readJsonBody(body, config.limits.jsonDepth);

/** A backup for the list: name, time of its replacement (ISO 8601), size in bytes. */
const show = ({ name, atMs, size }: Backup): JsonObject => ({ name, replacedAt: new Date(atMs).toISOString(), size });

const changeReply = (change: Change): WholeReply => {
  if (change.type === 'refused') {
    const faults = change.faults.map((fault) => `\n- ${formatFinding(fault)}`).join('');
    return fail('invalid-request', `Nothing was changed:${faults}`, { param: change.faults[0]?.path });
  }
  const { restart, warnings } = change;
  const sentences = [
    'The configuration was saved and is in use.',
    ...(restart.length > 0 ? [`A restart is needed for ${restart.join(', ')}.`] : []),
    ...warnings.map((warning) => `Warning: ${formatFinding(warning)}.`),
  ];
  return jsonReply({ success: true, message: sentences.join(' ') });
};

const Findings = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }));

const checkDoc = describe(
  'What a configuration would come to',
  'What is wrong with it, and what would need a restart; nothing is changed.',
  Type.Object({ faults: Findings, warnings: Findings, restart: Type.Array(Type.String()) }),
  { request: ConfigFile },
);
const schemaDoc = describe("The configuration's schema", 'As JSON Schema.', Type.Object({ type: Type.String() }));
const backupDoc = describe('An earlier configuration', 'As written.', ConfigFile);
