import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Config } from '../../../../engine/config/config.ts';
import type { Finding } from '../../../../engine/config/diagnostics.ts';
import { ConfigStore, type ConfigStoreOptions } from '../../../../engine/config/files/store.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import { type LogFields, quietLogs } from '../../../../engine/observe/log/logs.ts';

/** A folder of a test's own, removed when it ends; with this `config.json`, if any. */
export const temporaryHome = (t: ExecutionContext, text?: string): string => {
  const home = mkdtempSync(join(tmpdir(), 'junctor-store-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  if (text !== undefined) writeFileSync(join(home, 'config.json'), text);
  return home;
};

/** A configuration with one provider of this name. */
export const withProvider = (name: string, more: JsonObject = {}): JsonObject => ({
  Providers: [{ name, baseUrl: 'http://h.example', apiKey: `$KEY`, models: ['m'] }],
  ...more,
});

/** Checks a configuration that must be valid. */
export const configOf = (written: JsonObject): Config => {
  const result = validateConfig(written, { KEY: 'secret' });
  if ('config' in result) return result.config;
  throw new Error(JSON.stringify(result.faults));
};

/** A store at work, and all that it told. */
export interface Rig {
  readonly store: ConfigStore;
  readonly home: string;
  /** Configurations that were put to use, in order. */
  readonly applied: readonly Config[];
  /** `level: message fields`. */
  readonly log: readonly string[];
}

/** Opens a store that is closed when the test ends. Entries of a transformer named `broken` are faulty. */
export const openStore = async (
  t: ExecutionContext,
  home: string,
  written: JsonObject,
  over: Partial<ConfigStoreOptions> = {},
): Promise<Rig> => {
  const applied: Config[] = [];
  const log: string[] = [];
  const at = (level: string) => (message: string, fields?: LogFields) =>
    log.push(`${level}: ${message}${fields ? ` ${JSON.stringify(fields)}` : ''}`);
  const store = await ConfigStore.open({
    home,
    env: { KEY: 'secret' },
    initial: { source: written, config: configOf(written) },
    prepare: async (config) => ({
      faults: config.transformers.flatMap(({ name, at: path }): Finding[] =>
        name === 'broken' ? [{ path, message: 'is broken' }] : [],
      ),
      warnings: [],
      apply: () => applied.push(config),
    }),
    log: { ...quietLogs.app, info: at('info'), warn: at('warn'), error: at('error') },
    ...over,
  });
  store.watch();
  t.teardown(() => store.close());
  return { store, home, applied, log };
};
