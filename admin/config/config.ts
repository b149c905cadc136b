import { createHash } from 'node:crypto';
import Type from 'typebox';
import { type Finding, formatFinding, formatFindings } from '../../engine/config/diagnostics.ts';
import type { Backup } from '../../engine/config/files/backups.ts';
import type { Change } from '../../engine/config/files/change.ts';
import type { ConfigStore } from '../../engine/config/files/store.ts';
import { configSchema } from '../../engine/config/json-schema.ts';
import { ConfigFile } from '../../engine/config/schema.ts';
import type { HttpRequest, WholeReply } from '../../engine/http/endpoint.ts';
import { fail } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { reader } from '../../engine/model/schema.ts';
import { adminOperation, done, jsonOperation, jsonReply, readJsonBody } from '../endpoint.ts';
import { BackupList, CheckedConfig, Outcome } from '../schema.ts';
import { secretsQuery, showSecrets } from '../shown-secrets.ts';

const RestoreRequest = Type.Object({ name: Type.String({ description: 'As the list of backups names it.' }) });
const restoreReader = reader(RestoreRequest, { compiled: false });

/**
 * The configuration. A change that has begun completes even if the client disconnects; with `if-match`, it is made only if the entity tag
 * still matches. With `secrets=hidden`, placeholders are shown instead of secrets; a placeholder that is sent back keeps its secret.
 */
export const configOperations = (store: ConfigStore) => ({
  read: adminOperation({
    summary: 'The configuration',
    says: 'The configuration as written, including its keys; references to the environment stay references.',
    reply: ConfigFile,
    query: secretsQuery,
    answer: async (request) => jsonReply(showSecrets(request, store.source), 200, { etag: etagOf(store.source) }),
  }),
  replace: adminOperation({
    summary: 'Replaces the configuration',
    says: 'It is in effect.',
    reply: Outcome,
    request: ConfigFile,
    answer: (request) => replace(store, request),
  }),
  check: jsonOperation({
    summary: 'What a configuration would come to',
    says: 'What is wrong with it, and what would need a restart; nothing is changed.',
    reply: CheckedConfig,
    request: ConfigFile,
    answer: async ({ body }) => {
      const { faults, warnings, restart } = await store.check(readBody(store, body));
      return { faults: faults.map(showFinding), warnings: warnings.map(showFinding), restart };
    },
  }),
  checkFile: jsonOperation({
    summary: 'What the file would come to',
    says: 'What is wrong with the file as it is on disk, judged as at a reload or restart; nothing is changed.',
    reply: CheckedConfig,
    answer: async () => {
      const { faults, warnings, restart } = await store.checkFile();
      return { faults: faults.map(showFinding), warnings: warnings.map(showFinding), restart };
    },
  }),
  schema: adminOperation({
    summary: "The configuration's schema",
    says: 'As JSON Schema.',
    reply: Type.Object({ type: Type.String() }),
    answer: async () => jsonReply(configSchema()),
  }),
  backups: jsonOperation({
    summary: 'Earlier configurations, newest first',
    says: 'The list.',
    reply: BackupList,
    answer: async () => ({ backups: (await store.listBackups()).map(show) }),
  }),
  backup: adminOperation({
    summary: 'An earlier configuration',
    says: 'As written, including its keys.',
    reply: ConfigFile,
    query: secretsQuery,
    answer: async (request, { name = '' }) => {
      const parsed = (await store.readBackup(name)) ?? noBackup();
      if ('source' in parsed) return jsonReply(showSecrets(request, parsed.source));
      return fail('invalid-request', `That backup can't be read:${formatFindings(parsed.faults)}`);
    },
  }),
  restore: jsonOperation({
    summary: 'Takes an earlier configuration',
    says: 'It is in effect.',
    reply: Outcome,
    request: RestoreRequest,
    answer: async ({ body }) =>
      configOutcome((await store.restore(restoreReader.read(readBody(store, body)).name)) ?? noBackup()),
  }),
});

const noBackup = (): never => fail('not-found', 'There is no backup of that name.');

const replace = async (store: ConfigStore, { body, headers }: HttpRequest): Promise<WholeReply> => {
  const source = readBody(store, body);
  const tags = headers['if-match'];
  if (tags === undefined) return jsonReply(configOutcome(await store.replace(source)));
  const change = await store.replaceIf((present) => matchesTag(etagOf(present), tags), source);
  if (change) return jsonReply(configOutcome(change));
  const message =
    'Nothing was changed: the configuration has changed since it was read. Read it again, and make the change there.';
  return jsonReply({ success: false, message }, 412, { etag: etagOf(store.source) });
};

/** Entity tag of a configuration. Source: RFC 9110, "ETag". */
const etagOf = (source: JsonObject): string =>
  `"${createHash('sha256').update(JSON.stringify(source)).digest('base64url').slice(0, 22)}"`;

/** Whether an `If-Match` list contains this tag or `*`. Source: RFC 9110, "If-Match". */
const matchesTag = (tag: string, tags: string): boolean =>
  tags.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));

const showFinding = ({ path, message }: Finding) => ({ path, message });

const readBody = ({ config }: ConfigStore, body: Uint8Array): JsonObject => readJsonBody(body, config.limits.jsonDepth);

/** A backup for the list: name, time of its replacement (ISO 8601), size in bytes. */
const show = ({ name, atMs, size }: Backup) => ({ name, replacedAt: new Date(atMs).toISOString(), size });

/** The outcome of a change. Throws an `invalid-request` fault that lists why it was refused. */
export const configOutcome = (change: Change): Outcome => {
  if (change.type === 'refused') {
    return fail('invalid-request', `Nothing was changed:${formatFindings(change.faults)}`, {
      param: change.faults[0]?.path,
    });
  }
  const { restart, warnings, behind } = change;
  const sentences = [
    'The configuration was saved and is in use.',
    ...(restart.length > 0 ? [`A restart is needed for ${restart.join(', ')}.`] : []),
    ...(behind > 0
      ? [
          `Warning: ${behind} other process${behind === 1 ? '' : 'es'} of the service didn't apply it in time; until then, the previous one is in use there (see app.log).`,
        ]
      : []),
    ...warnings.map((warning) => `Warning: ${formatFinding(warning)}.`),
  ];
  return done(sentences.join(' '));
};
