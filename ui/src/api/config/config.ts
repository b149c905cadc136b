import type { BackupList, CheckedConfig, Outcome } from '../../../../admin/schema.ts';
import { call, callFor } from '../call.ts';
import type { JsonObject } from '../json.ts';
import type { ConfigFile } from './config-file.ts';

export type { ConfigFile, Finding, PoolFile, ProviderFile, TransformerEntry } from './config-file.ts';

/** The configuration, and the mark of this very state of it. */
export interface ReadConfig {
  readonly config: ConfigFile;
  readonly etag: string | undefined;
}

export type { CheckedConfig, Outcome };

/** An earlier configuration. */
export type Backup = BackupList['backups'][number];

/** The page never needs a secret: it shows placeholders, and saving them keeps the secrets. */
export const hiddenSecrets = { secrets: 'hidden' } as const;

/** Reads the configuration, with placeholders instead of secrets. */
export const readConfig = async (signal?: AbortSignal): Promise<ReadConfig> => {
  const { value, headers } = await callFor<ConfigFile>('/api/config', { query: hiddenSecrets, signal });
  return { config: value, etag: headers.get('etag') ?? undefined };
};

/** Replaces the configuration whole. Fails with status 412 when it is no longer in the state of `etag`. */
export const writeConfig = (config: ConfigFile, etag: string | undefined): Promise<Outcome> =>
  call('/api/config', { method: 'POST', body: config, headers: etag === undefined ? {} : { 'if-match': etag } });

/** Checks a configuration without saving it. */
export const checkConfig = (config: ConfigFile, signal?: AbortSignal): Promise<CheckedConfig> =>
  call('/api/config/check', { method: 'POST', body: config, signal });

/** The JSON Schema of the configuration. */
export const readConfigSchema = (signal?: AbortSignal): Promise<JsonObject> => call('/api/config/schema', { signal });

/** Earlier configurations, newest first. */
export const listBackups = async (signal?: AbortSignal): Promise<readonly Backup[]> =>
  (await call<BackupList>('/api/config/backups', { signal })).backups;

/** One of them, with placeholders instead of secrets. */
export const readBackup = (name: string, signal?: AbortSignal): Promise<ConfigFile> =>
  call(`/api/config/backups/${encodeURIComponent(name)}`, { query: hiddenSecrets, signal });

/** Puts one of them in the place of the configuration. */
export const restoreBackup = (name: string): Promise<Outcome> =>
  call('/api/config/restore', { method: 'POST', body: { name } });
