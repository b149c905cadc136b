import { mkdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { concatMap, type Subscription } from 'rxjs';
import type { AppLog } from '../log/index.ts';
import type { JsonObject } from '../model/json.ts';
import type { Backup } from './backups.ts';
import type { Applied, Change, Configuration, Prepared, Refused } from './change.ts';
import type { Config } from './config.ts';
import { ConfigFile } from './config-file.ts';
import { editConfigText, printConfig } from './edit-text.ts';
import { wordFinding } from './findings.ts';
import type { Environment } from './interpolate.ts';
import { needsRestart } from './needs-restart.ts';
import { type ParsedConfig, parseConfig } from './parse.ts';
import { configFile } from './read.ts';
import { sweepDrafts } from './sweep-drafts.ts';
import { validateConfig } from './validate.ts';
import { watchFile } from './watch.ts';

/** What a store works with. */
export interface ConfigStoreOptions {
  /** The configuration's folder; absolute. */
  readonly home: string;
  readonly env: Environment;
  /** What the service was started with, from the folder or made up. */
  readonly initial: Configuration;
  /** Loads and builds all that a configuration needs, without touching what is in use. */
  readonly prepare: (config: Config) => Promise<Prepared>;
  readonly log: AppLog;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A configuration that has passed all checks. */
interface Ready extends Configuration, Prepared {}

/**
 * The configuration in use and the file that it stands in. Changes come from callers or from the disk; they are made one after
 * the other, and each holds wholly or not at all.
 */
export class ConfigStore {
  readonly #options: ConfigStoreOptions;
  readonly #file: ConfigFile;
  #current: Configuration;
  /** The newest text of the file that could be read; none while there is no file. */
  #text: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #watching: Subscription | undefined;

  private constructor(options: ConfigStoreOptions) {
    this.#options = options;
    this.#file = new ConfigFile(configFile(options.home), options.now);
    this.#current = options.initial;
  }

  /** Takes charge of a folder, which is made if it isn't there. */
  static async open(options: ConfigStoreOptions): Promise<ConfigStore> {
    const { home, now = Date.now } = options;
    // Where it can't be made, nothing can be written either, and that is said then.
    await mkdir(home, { recursive: true, mode: 0o700 }).catch(() => undefined);
    await sweepDrafts(home, now());
    const store = new ConfigStore(options);
    const text = await store.#file.read().catch(() => undefined);
    store.#text = text?.toString();
    // A process that was killed may have left one too many.
    await store.#file.backups.prune().catch(() => undefined);
    return store;
  }

  /** Takes up changes of the file from now on, and one that was made since the service read it. */
  watch(): void {
    const { log } = this.#options;
    this.#watching ??= watchFile(this.#file.path, (error) => log.warn('config.json is not watched', { error }))
      .pipe(concatMap(() => this.reload()))
      .subscribe();
  }

  /** The configuration in use, as written; the one that was made up, as long as there is no file. */
  get written(): JsonObject {
    return this.#current.written;
  }

  /** The configuration in use. */
  get config(): Config {
    return this.#current.config;
  }

  /** Earlier configurations, newest first. */
  listBackups(): Promise<readonly Backup[]> {
    return this.#file.backups.list();
  }

  /**
   * Puts a configuration in the place of the present one, in the file and in the running service. Comments in the file stay
   * where the change lets them. Rejects with an `internal` fault when the file can't be written; nothing is changed then.
   */
  replace(written: JsonObject): Promise<Change> {
    return this.#inTurn(() => this.#install(written, (old) => this.#edit(old, written)));
  }

  /**
   * The same, unless the configuration is another one by then than `isExpected` takes it for, and so `undefined`: what somebody else
   * wrote, here or on disk, mustn't get lost unseen.
   */
  replaceIf(isExpected: (present: JsonObject) => boolean, written: JsonObject): Promise<Change | undefined> {
    return this.#inTurn(async () => {
      await this.#takeUp().catch(() => undefined);
      return isExpected(this.written) ? this.#install(written, (old) => this.#edit(old, written)) : undefined;
    });
  }

  /** What would become of a configuration; nothing is changed. */
  async check(written: JsonObject): Promise<Pick<Applied, 'warnings' | 'restart'> & Pick<Refused, 'faults'>> {
    const ready = await this.#check(written);
    if ('type' in ready) return { faults: ready.faults, warnings: ready.warnings, restart: [] };
    return { faults: [], warnings: ready.warnings, restart: needsRestart(this.#options.initial.config, ready.config) };
  }

  /** A backup as it was written, or what is wrong with its text; `undefined`: there is no such backup. */
  async readBackup(name: string): Promise<ParsedConfig | undefined> {
    const text = await this.#file.backups.read(name);
    return text === undefined ? undefined : parseConfig(text);
  }

  /** Puts a backup's text, as it is, in the place of the present configuration. `undefined`: there is no such backup. */
  restore(name: string): Promise<Change | undefined> {
    return this.#inTurn(async () => {
      const text = await this.#file.backups.read(name);
      if (text === undefined) return undefined;
      const parsed = parseConfig(text);
      return 'written' in parsed ? this.#install(parsed.written, () => text) : refused(parsed);
    });
  }

  /** Puts into use what stands in the file, if that says something new; what is wrong with it goes into the log. */
  reload(): Promise<void> {
    const { log } = this.#options;
    return this.#inTurn(() => this.#takeUp()).catch((error: unknown) =>
      log.error('config.json can not be taken up; the running configuration stays', { error }),
    );
  }

  /** Ends the watching and waits for changes that are being made. */
  async close(): Promise<void> {
    this.#watching?.unsubscribe();
    await this.#turn;
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(task);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #install(written: JsonObject, textFor: (old: string | undefined) => string): Promise<Change> {
    const ready = await this.#check(written);
    if ('type' in ready) return ready;
    this.#text = await this.#file.write(textFor);
    return this.#use(ready, 'configuration replaced');
  }

  async #takeUp(): Promise<void> {
    const { log } = this.#options;
    const text = (await this.#file.read())?.toString();
    if (text === undefined) {
      if (this.#text !== undefined) log.warn('config.json was removed; the running configuration stays');
      this.#text = undefined;
      return;
    }
    const parsed = parseConfig(text);
    if ('written' in parsed) {
      this.#text = text;
      // Our own writes come back here too.
      if (isDeepStrictEqual(parsed.written, this.written)) return;
    }
    const ready = 'written' in parsed ? await this.#check(parsed.written) : refused(parsed);
    if ('type' in ready) {
      const faults = ready.faults.map(wordFinding);
      log.error('config.json was changed but can not be used; the running configuration stays', { faults });
    } else this.#use(ready, 'configuration reloaded');
  }

  async #check(written: JsonObject): Promise<Ready | Refused> {
    const result = validateConfig(written, this.#options.env);
    if (!('config' in result)) return refused(result);
    const { config } = result;
    const prepared = await this.#options.prepare(config);
    const warnings = [...result.warnings, ...prepared.warnings];
    return prepared.faults.length > 0
      ? refused({ faults: prepared.faults, warnings })
      : { ...prepared, warnings, written, config };
  }

  #use({ written, config, warnings, apply }: Ready, message: string): Applied {
    const { log, initial } = this.#options;
    apply();
    this.#current = { written, config };
    const restart = needsRestart(initial.config, config);
    log.info(message, { restart });
    for (const warning of warnings) log.warn(wordFinding(warning));
    return { type: 'applied', warnings, restart };
  }

  /** Comments are looked for in the file as it is, or, where that can't be read, as it last could. */
  #edit(old: string | undefined, written: JsonObject): string {
    if (old === undefined) return printConfig(written);
    return editConfigText('written' in parseConfig(old) ? old : (this.#text ?? old), written);
  }
}

const refused = ({ faults, warnings = [] }: Pick<Refused, 'faults'> & Partial<Pick<Refused, 'warnings'>>): Refused => ({
  type: 'refused',
  faults,
  warnings,
});
