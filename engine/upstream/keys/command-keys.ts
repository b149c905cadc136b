import type { KeyCommand } from '../../config/config.ts';
import { secretsOfKey } from '../../model/clouds.ts';
import { FaultError, quoted } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { noKeyPrinted } from '../health/failure-class.ts';
import type { CommandResult } from './run-command.ts';

/** The keys that commands print. Each process runs its own, once for all requests that need the key at that time. */
export interface CommandKeys {
  /** Whether the command may be run, which the service's command line decides. */
  readonly allows: (command: readonly string[]) => boolean;
  /**
   * The key; a promise only if the command must be waited for. Throws, or rejects with, a `misconfigured` fault that names the
   * provider if there is none.
   */
  readonly read: (command: KeyCommand, provider: string) => string | Promise<string>;
  /** The upstream has refused a key: drops it if it is the current one. Returns whether another attempt may have another key. */
  readonly renew: (command: KeyCommand, refused: string) => boolean;
  /** Ends what runs. */
  readonly close: () => void;
}

/** Services for running the commands. */
interface CommandKeysOptions {
  /** The allowed commands, as on the command line. */
  readonly allowed: readonly string[];
  readonly run: (command: readonly string[], signal: AbortSignal) => Promise<CommandResult>;
  /** A clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Gets all keys that are in use, so that they can be masked. */
  readonly obtained: (keys: readonly string[]) => void;
  /** Gets what goes wrong while there still is a key. */
  readonly warn: (message: string) => void;
}

/** The part of its time after which a key is renewed while it is still used. */
const renewAfter = 0.8;

/** How long a command isn't run again for keys that the upstream refuses, or beforehand after a failure, in milliseconds. */
const pauseMs = 10_000;

/** A bound, since configurations may change without end. */
const maxCommands = 100;

/** Creates the keys of a process. */
export const createCommandKeys = ({ allowed, run, nowMs, obtained, warn }: CommandKeysOptions): CommandKeys => {
  const ended = new AbortController();
  const permitted = new Set(allowed.map((text) => JSON.stringify(wordsOf(text))));
  const known = new BoundedMap<string, CommandKey>(maxCommands);
  const keyOf = ({ command, forMs }: KeyCommand): CommandKey =>
    known.remember(
      JSON.stringify([command, forMs]),
      () =>
        new CommandKey(forMs, nowMs, async () => {
          const result = await run(command, ended.signal);
          if ('key' in result)
            obtained([...[...known.values()].flatMap(({ keys }) => keys), result.key].flatMap(secretsOfKey));
          return result;
        }),
    );
  return {
    allows: (command) => permitted.has(JSON.stringify(command)),
    read(command, provider) {
      if (!permitted.has(JSON.stringify(command.command))) {
        throw noKey(provider, 'is not allowed: the service must be started with --allow-key-command and this command');
      }
      const key = keyOf(command);
      const program = quoted(command.command[0] ?? '');
      key.renewBeforehand((problem) => warn(`the key of ${provider} isn't renewed: its command ${program} ${problem}`));
      if (key.current !== undefined) return key.current;
      return key.run().then((result) => {
        if ('key' in result) return result.key;
        throw noKey(provider, `${program} ${result.problem}`);
      });
    },
    renew: (command, refused) => keyOf(command).renew(refused),
    close: () => ended.abort(),
  };
};

/** Keys of a gateway that runs no commands: a mask stands for each. */
export const maskedKeys = (allowed: readonly string[] = []): CommandKeys => {
  const { allows } = createCommandKeys({
    allowed,
    run: async () => ({ problem: 'is not run' }),
    nowMs: () => 0,
    obtained: () => undefined,
    warn: () => undefined,
  });
  return { allows, read: () => '***', renew: () => false, close: () => undefined };
};

/** The words of a command on the command line: a JSON list of texts, or words between blanks. Throws for what is neither. */
export const wordsOf = (text: string): readonly string[] => {
  if (!text.trim().startsWith('[')) return text.trim().split(/\s+/);
  const words = parseJson(text);
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  throw new Error(`--allow-key-command ${text} is no JSON list of texts.`);
};

const noKey = (provider: string, what: string): FaultError =>
  new FaultError({
    kind: 'misconfigured',
    code: noKeyPrinted,
    message: `Provider "${provider}" can't be used: the command for its key ${what}.`,
  });

/** The key of one command. */
class CommandKey {
  readonly #forMs: number;
  readonly #nowMs: () => number;
  readonly #print: () => Promise<CommandResult>;
  #key: string | undefined;
  /** The key before, which requests under way may still have. */
  #former: string | undefined;
  /** When the run began that printed the key. */
  #sinceMs = 0;
  #running: Promise<CommandResult> | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(forMs: number, nowMs: () => number, print: () => Promise<CommandResult>) {
    this.#forMs = forMs;
    this.#nowMs = nowMs;
    this.#print = print;
  }

  /** The key; `undefined` before the first run, and when its time is over. */
  get current(): string | undefined {
    return this.#nowMs() - this.#sinceMs < this.#forMs ? this.#key : undefined;
  }

  /** The key and the one before. */
  get keys(): readonly string[] {
    return [this.#key, this.#former].filter((key) => key !== undefined);
  }

  /** Runs the command, or waits for the run under way. */
  run(): Promise<CommandResult> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runOnce(): Promise<CommandResult> {
    const startedAtMs = this.#nowMs();
    const result = await this.#print();
    if ('problem' in result) {
      this.#failedAtMs = this.#nowMs();
      return result;
    }
    if (result.key !== this.#key) this.#former = this.#key ?? this.#former;
    this.#key = result.key;
    this.#sinceMs = startedAtMs;
    return result;
  }

  /** Runs the command if the key's time is nearly over. `failed` gets what it did instead of printing a key. */
  renewBeforehand(failed: (problem: string) => void): void {
    const nowMs = this.#nowMs();
    const ageMs = nowMs - this.#sinceMs;
    if (this.current === undefined || this.#running || ageMs < this.#forMs * renewAfter) return;
    if (nowMs - this.#failedAtMs < pauseMs) return;
    void this.run().then((result) => {
      if ('problem' in result) failed(result.problem);
    });
  }

  renew(refused: string): boolean {
    if (refused !== this.#key) return refused === this.#former;
    const nowMs = this.#nowMs();
    if (nowMs - this.#refusedAtMs < pauseMs) return false;
    this.#refusedAtMs = nowMs;
    this.#former = this.#key;
    this.#key = undefined;
    return true;
  }
}
