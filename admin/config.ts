import { createHash } from 'node:crypto';
import { defer, type Observable, of } from 'rxjs';
import Type, { type TSchema } from 'typebox';
import type { Backup } from '../engine/config/backups.ts';
import type { Change } from '../engine/config/change.ts';
import { type Finding, wordFinding } from '../engine/config/findings.ts';
import { ConfigFile } from '../engine/config/schema.ts';
import type { ConfigStore } from '../engine/config/store.ts';
import type { Endpoint, Params } from '../engine/http/endpoint.ts';
import type { Incoming } from '../engine/http/incoming.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json.ts';
import { reader } from '../engine/model/schema.ts';
import type { WholeReply } from '../engine/reply-part.ts';
import { jsonReply } from './json-reply.ts';
import type { DocumentedRow, OperationDoc } from './operation-doc.ts';
import { ServiceFault } from './operation-docs.ts';
import { readJsonBody } from './read-json-body.ts';
import { wordFault } from './word-fault.ts';

const restoreBody = reader(
  Type.Object({ name: Type.String({ description: "A backup's name, as `GET /api/config/backups` lists it." }) }),
);

/**
 * The configuration: `GET /api/config` tells it as written, with a tag; `POST` replaces it whole, where `if-match` has a tag only
 * if it is still that one. `POST /api/config/check` says what a configuration would come to, `GET /api/config/schema` how one is
 * written. `GET /api/config/backups` lists earlier ones, newest first, `GET /api/config/backups/{name}` shows one, and
 * `POST /api/config/restore` takes one. A change that was begun is carried through even if the client leaves.
 */
export const configRows = (store: ConfigStore): readonly DocumentedRow[] => {
  const endpoint = (
    answer: (incoming: Incoming, params: Params) => Promise<WholeReply> | Observable<WholeReply>,
  ): Endpoint => ({
    open: false,
    wordFault,
    handle: (incoming, params) => defer(() => answer(incoming, params)),
  });
  return [
    {
      method: 'GET',
      path: '/api/config',
      endpoint: endpoint(() => of(jsonReply(store.written, 200, { etag: etagOf(store.written) }))),
    },
    { method: 'POST', path: '/api/config', endpoint: endpoint((incoming) => replace(store, incoming)) },
    {
      method: 'POST',
      path: '/api/config/check',
      endpoint: endpoint(async ({ body }) => {
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
      endpoint: endpoint(() => of(jsonReply(configSchema))),
      doc: schemaDoc,
    },
    {
      method: 'GET',
      path: '/api/config/backups',
      endpoint: endpoint(async () => jsonReply({ backups: (await store.listBackups()).map(show) })),
    },
    {
      method: 'GET',
      path: '/api/config/backups/:name',
      endpoint: endpoint(async (_, { name = '' }) => {
        const parsed = (await store.readBackup(name)) ?? noBackup();
        if ('written' in parsed) return jsonReply(parsed.written);
        return fail('invalid-request', `That backup can't be read: ${parsed.faults.map(wordFinding).join('; ')}.`);
      }),
      doc: backupDoc,
    },
    {
      method: 'POST',
      path: '/api/config/restore',
      endpoint: endpoint(async ({ body }) =>
        tell((await store.restore(restoreBody.read(readBody(store, body)).name)) ?? noBackup()),
      ),
    },
  ];
};

const noBackup = (): never => fail('not-found', 'There is no backup of that name.');

const replace = async (store: ConfigStore, { body, headers }: Incoming): Promise<WholeReply> => {
  const written = readBody(store, body);
  const tags = headers['if-match'];
  if (tags === undefined) return tell(await store.replace(written));
  const change = await store.replaceIf((present) => isAmong(etagOf(present), tags), written);
  if (change) return tell(change);
  const message =
    'Nothing was changed: the configuration was changed by somebody else since it was read. Read it again, and make the change there.';
  return jsonReply({ success: false, message }, 412, { etag: etagOf(store.written) });
};

/** A tag that another configuration doesn't have. Source: RFC 9110, "ETag". */
const etagOf = (written: JsonObject): string =>
  `"${createHash('sha256').update(JSON.stringify(written)).digest('base64url').slice(0, 22)}"`;

/** Whether a list of tags, or the star that stands for any, has this one. Source: RFC 9110, "If-Match". */
const isAmong = (tag: string, tags: string): boolean =>
  tags.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));

const showFinding = ({ path, message }: Finding): JsonObject => ({ path, message });

/** The schema of `config.json`, for editors. */
const configSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Switchyard configuration',
  // A schema without what only its validator needs.
  ...JSON.parse(JSON.stringify(ConfigFile)),
};

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

const Findings = Type.Array(Type.Object({ path: Type.String(), message: Type.String() }));

const told = (summary: string, says: string, schema: TSchema, more: Partial<OperationDoc> = {}): OperationDoc => ({
  summary,
  group: 'management',
  answers: { 200: { says, content: { 'application/json': schema } } },
  fault: ServiceFault,
  ...more,
});

const checkDoc = told(
  'What a configuration would come to',
  'What is wrong with it, and what would need a restart; nothing is changed.',
  Type.Object({ faults: Findings, warnings: Findings, restart: Type.Array(Type.String()) }),
  { request: ConfigFile },
);
const schemaDoc = told("The configuration's schema", 'As JSON Schema.', Type.Object({ type: Type.String() }));
const backupDoc = told('An earlier configuration', 'As written.', ConfigFile);
