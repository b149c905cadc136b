import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { concatMap, type Subscription } from 'rxjs';
import { errorCode } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { AppLog } from '../../observe/log/logs.ts';
import type { Config } from '../config.ts';
import { type Finding, formatFinding } from '../diagnostics.ts';
import type { Environment } from '../env.ts';
import { schemaReference, writeSchema } from '../json-schema.ts';
import type { Inspect } from '../judge.ts';
import { withInspected } from '../judge.ts';
import { type ParsedConfig, parseConfig } from '../parse.ts';
import { configFile } from '../read.ts';
import { putSecretsBack, shownFindings } from '../secrets.ts';
import { validateConfig } from '../validate.ts';
import type { Backup } from './backups.ts';
import { type Applied, type Change, type Configuration, needsRestart, type Prepared, type Refused } from './change.ts';
import { ConfigOnDisk, removeTempFilesOf, watchFile } from './file.ts';

/** Options of a configuration store. */
export interface ConfigStoreOptions {
  /** The configuration's folder; absolute. */
  readonly home: string;
  readonly env: Environment;
  /** The configuration that the service started with, from the file or generated. */
  readonly initial: Configuration;
  /** Loads and builds everything that a configuration needs, without changing the active one. */
  readonly prepare: (config: Config, source: JsonObject) => Promise<Prepared>;
  /** Finds further faults of a configuration that has some. */
  readonly inspect?: Inspect;
  readonly log: AppLog;
  /** Runs a task while no other process of the service changes the file; absent: there is none. May reject with a fault. */
  readonly exclusive?: <T>(task: () => Promise<T>) => Promise<T>;
  /** Makes the other processes of the service apply the file. Resolves with the number that don't use it in time; absent: there are none. */
  readonly applyToOthers?: () => Promise<number>;
  /** How often the file is polled, in milliseconds, in addition to being watched. */
  readonly pollMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const defaultLookMs = 10_000;

/** A configuration that passed all checks. */
interface Ready extends Configuration, Prepared {}

/**
 * The active configuration and its file. Changes by callers or on disk are applied one at a time, each completely or not at
 * all.
 */
export class ConfigStore {
  readonly #options: ConfigStoreOptions;
  readonly #file: ConfigOnDisk;
  #current: Configuration;
  /** The file's last readable text; `undefined` without a file. */
  #text: string | undefined;
  /** The file's text when it was last read, valid or not. */
  #seen: string | undefined;
  /** Whether the active configuration is that of the text last read. */
  #follows = false;
  /** Whether there was a file since the start. */
  #hadFile = false;
  #staleModules: readonly Finding[] = [];
  #queue: Promise<unknown> = Promise.resolve();
  #watching: Subscription | undefined;

  private constructor(options: ConfigStoreOptions) {
    this.#options = options;
    this.#file = new ConfigOnDisk(configFile(options.home, options.env), options.home, options.now);
    this.#current = options.initial;
  }

  /** Opens the store of a folder, which is created if missing. */
  static async open(options: ConfigStoreOptions): Promise<ConfigStore> {
    const { home } = options;
    // If the folder can't be created, later writes fail and report it.
    await mkdir(home, { recursive: true, mode: 0o700 }).catch(() => undefined);
    const store = new ConfigStore(options);
    await removeTempFilesOf(store.#file.path, home);
    const text = await store.#file.read().catch(() => undefined);
    store.#text = text?.toString();
    store.#hadFile = text !== undefined;
    await store.#keepSchema();
    // A killed process may have left one backup too many.
    await store.#file.backups.prune().catch(() => undefined);
    return store;
  }

  /** Applies changes of the file from now on, and any change since the service read it. */
  watch(): void {
    const { log, pollMs = defaultLookMs } = this.#options;
    this.#watching ??= watchFile(this.#file.path, pollMs, (error) => log.warn('config.json is not watched', { error }))
      .pipe(concatMap(() => this.reload()))
      .subscribe();
  }

  /** The source of the active configuration; generated if there is no file. */
  get source(): JsonObject {
    return this.#current.source;
  }

  /** The active configuration. */
  get config(): Config {
    return this.#current.config;
  }

  /** Why changed modules can't be used, so that those loaded before are still in use; empty: all are as their files are. */
  get staleModules(): readonly Finding[] {
    return this.#staleModules;
  }

  /** Earlier configurations, newest first. */
  listBackups(): Promise<readonly Backup[]> {
    return this.#file.backups.list();
  }

  /**
   * Replaces the configuration in the file and in the running service, in all of its processes. Keeps comments in the file where possible. Rejects with
   * an `internal` fault when the file can't be written; nothing is changed then. Placeholders stand for the secrets of the
   * active configuration.
   */
  async replace(source: JsonObject): Promise<Change> {
    return this.#everywhere(await this.#write(() => this.#replace(source)));
  }

  /**
   * Compare-and-swap: replaces only if `isExpected(current)`; `undefined` if it was changed meanwhile, here or on disk.
   */
  async replaceIf(isExpected: (present: JsonObject) => boolean, source: JsonObject): Promise<Change | undefined> {
    const change = await this.#write(async () => {
      await this.#applyFile().catch(() => undefined);
      return isExpected(this.source) ? this.#replace(source) : undefined;
    });
    return change && this.#everywhere(change);
  }

  /** Checks a configuration without applying it. Placeholders are as in `replace`. */
  async check(source: JsonObject): Promise<Pick<Applied, 'warnings' | 'restart'> & Pick<Refused, 'faults'>> {
    return this.#judge(putSecretsBack(source, this.source));
  }

  async #judge(source: JsonObject): Promise<Pick<Applied, 'warnings' | 'restart'> & Pick<Refused, 'faults'>> {
    const ready = await this.#check(source);
    if ('type' in ready) return { faults: ready.faults, warnings: ready.warnings, restart: [] };
    return { faults: [], warnings: ready.warnings, restart: needsRestart(this.#options.initial.config, ready.config) };
  }

  /** Checks what the file has now, as a reload of it would, without applying it. */
  async checkFile(): Promise<Pick<Applied, 'warnings' | 'restart'> & Pick<Refused, 'faults'>> {
    let text: string | undefined;
    try {
      text = (await this.#file.read())?.toString();
    } catch (error) {
      const message = `can't be read (${errorCode(error) ?? 'unknown error'})`;
      return { faults: [{ path: '', message }], warnings: [], restart: [] };
    }
    if (text === undefined) {
      const removed = [{ path: '', message: 'was removed; the running one stays in use' }];
      return { faults: this.#hadFile ? removed : [], warnings: [], restart: [] };
    }
    const parsed = parseConfig(text);
    return 'faults' in parsed ? { ...parsed, warnings: [], restart: [] } : this.#judge(parsed.source);
  }

  /** Parses a backup; `undefined`: there is no such backup. */
  async readBackup(name: string): Promise<ParsedConfig | undefined> {
    const text = await this.#file.backups.read(name);
    return text === undefined ? undefined : parseConfig(text);
  }

  /** Replaces the configuration with a backup's unchanged text. `undefined`: there is no such backup. */
  async restore(name: string): Promise<Change | undefined> {
    const change = await this.#write(async () => {
      const text = await this.#file.backups.read(name);
      if (text === undefined) return undefined;
      const parsed = parseConfig(text);
      return 'source' in parsed ? this.#install(parsed.source, () => text) : refused(parsed);
    });
    return change && this.#everywhere(change);
  }

  /** Applies the file's content if it has changed; logs faults. Resolves with whether it is in use. */
  reload(): Promise<boolean> {
    const { log } = this.#options;
    return this.#enqueue(() => this.#applyFile()).catch((error: unknown) => {
      log.error("config.json can't be applied; the running configuration stays in use", { error });
      return false;
    });
  }

  /** Rebuilds the active configuration after one of its modules has changed; logs faults. */
  refresh(): Promise<void> {
    const { log } = this.#options;
    return this.#enqueue(async () => {
      // A new object, as for any change, so that everything built from the old one counts as outdated.
      const ready = await this.#check({ ...this.source });
      if ('type' in ready) {
        const faults = ready.faults.map(formatFinding);
        log.error("a changed transformer module can't be used; the loaded one stays in use", { faults });
        this.#staleModules = ready.faults;
      } else this.#use(ready, 'transformer modules reloaded');
    }).catch((error: unknown) => log.error("transformer modules can't be reloaded", { error }));
  }

  /** Stops watching and waits for pending changes. */
  async close(): Promise<void> {
    this.#watching?.unsubscribe();
    await this.#queue;
  }

  /** Changes the file: one at a time, of all processes. */
  #write<T>(task: () => Promise<T>): Promise<T> {
    const { exclusive } = this.#options;
    return this.#enqueue(exclusive ? () => exclusive(task) : task);
  }

  /** Waits for the other processes. Not within the queue or this process's turn: they may wait for these themselves. */
  async #everywhere(change: Change): Promise<Change> {
    const { applyToOthers } = this.#options;
    return change.type === 'applied' && applyToOthers ? { ...change, behind: await applyToOthers() } : change;
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(task);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Edits the file's text to keep its comments; if it is invalid, the last readable text. */
  async #replace(draft: JsonObject): Promise<Change> {
    const source = putSecretsBack(draft, this.source);
    const { editConfigText, printConfig } = await import('../edit/edit.ts');
    return this.#install(source, (old) => {
      if (old === undefined) return printConfig(source);
      return editConfigText('source' in parseConfig(old) ? old : (this.#text ?? old), source);
    });
  }

  async #install(source: JsonObject, textFor: (old: string | undefined) => string): Promise<Change> {
    const ready = await this.#check(source);
    if ('type' in ready) return ready;
    const standing = new Set((await this.#check(this.source)).warnings.map(formatFinding));
    this.#text = this.#seen = await this.#file.write(textFor);
    this.#follows = this.#hadFile = true;
    const applied = this.#use(ready, 'configuration replaced');
    await this.#keepSchema();
    return { ...applied, warnings: applied.warnings.filter((one) => !standing.has(formatFinding(one))) };
  }

  /** Returns whether the file's content is in use. */
  async #applyFile(): Promise<boolean> {
    const { log } = this.#options;
    const text = (await this.#file.read())?.toString();
    if (text === undefined) {
      if (this.#text !== undefined) log.warn('config.json was removed; the running configuration stays in use');
      this.#text = this.#seen = undefined;
      return false;
    }
    // Its faults are logged already.
    if (text === this.#seen) return this.#follows;
    this.#seen = text;
    this.#follows = false;
    const parsed = parseConfig(text);
    if ('source' in parsed) {
      this.#text = text;
      // Our own writes trigger the watcher too.
      if (isDeepStrictEqual(parsed.source, this.source)) {
        this.#follows = true;
        return true;
      }
    }
    const ready = 'source' in parsed ? await this.#check(parsed.source) : refused(parsed);
    if ('type' in ready) {
      const faults = ready.faults.map(formatFinding);
      log.error("the changed config.json can't be used; the running configuration stays in use", { faults });
    } else {
      this.#use(ready, 'configuration reloaded');
      this.#follows = true;
      await this.#keepSchema();
    }
    return this.#follows;
  }

  /** Keeps the schema's copy beside a file of this folder that names it, for editors; the service doesn't need it. */
  async #keepSchema(): Promise<void> {
    const { home } = this.#options;
    if (this.#text === undefined || this.source.$schema !== schemaReference) return;
    if (dirname(this.#file.path) !== home) return;
    await writeSchema(home).catch((error: unknown) =>
      this.#options.log.warn("the configuration's schema can't be written", { error }),
    );
  }

  async #check(source: JsonObject): Promise<Ready | Refused> {
    const { env, prepare, inspect } = this.#options;
    const result = validateConfig(source, env);
    if (!('config' in result)) return refused(inspect ? await withInspected(result, source, env, inspect) : result);
    const { config } = result;
    const prepared = await prepare(config, source);
    const warnings = [...result.warnings, ...shownFindings(prepared.warnings, source, env)];
    return prepared.faults.length > 0
      ? refused({ faults: shownFindings(prepared.faults, source, env), warnings })
      : { ...prepared, warnings, source, config };
  }

  #use({ source, config, warnings, apply }: Ready, message: string): Applied {
    const { log, initial } = this.#options;
    this.#staleModules = [];
    apply();
    this.#current = { source, config };
    const restart = needsRestart(initial.config, config);
    log.info(message, { restart });
    for (const warning of warnings) log.warn(formatFinding(warning));
    return { type: 'applied', warnings, restart, behind: 0 };
  }
}

const refused = ({ faults, warnings = [] }: Pick<Refused, 'faults'> & Partial<Pick<Refused, 'warnings'>>): Refused => ({
  type: 'refused',
  faults,
  warnings,
});
