import { hash } from 'node:crypto';
import { FaultError } from '../../model/fault.ts';
import { type Json, parseJson } from '../../model/json/json.ts';
import type { StageMemory } from './around.ts';

/** Longest key and value, in characters; a value as JSON. */
const maxKey = 1_024;
const maxValue = 256 * 1024;
/** Values and counters of one stage, and characters of its values. */
const maxEntries = 10_000;
const maxCharacters = 16 * 1024 * 1024;
/** Characters of all stages' values. */
const maxAllCharacters = 64 * 1024 * 1024;
/** The longest time that anything is remembered, in milliseconds. */
const maxMs = 7 * 86_400_000;

/** What other processes remember, too. */
export interface SharedMemory {
  /** Whether there are others. */
  readonly isShared: () => boolean;
  readonly put: (name: string, value: string, ms: number) => void;
  /** `undefined`: unknown, or the store doesn't answer. */
  readonly read: (name: string) => Promise<string | undefined>;
  /** Adds to a counter of all processes. Resolves with its sum. */
  readonly add: (name: string, by: number) => Promise<number>;
}

interface Remembered {
  readonly text: string;
  readonly untilMs: number;
}

interface Counted {
  sum: number;
  readonly untilMs: number;
}

/** The memories of all stages, by their names. They outlive changes of the configuration. */
export class StageMemories {
  readonly #nowMs: () => number;
  readonly #shared: SharedMemory | undefined;
  readonly #memories = new Map<string, Memory>();
  /** Characters that all stages' values have. */
  readonly #size = { characters: 0 };

  /** `nowMs`: milliseconds since 1970, so that processes agree on them. */
  constructor(nowMs: () => number = Date.now, shared?: SharedMemory) {
    this.#nowMs = nowMs;
    this.#shared = shared;
  }

  of(stage: string): StageMemory {
    let memory = this.#memories.get(stage);
    if (!memory) {
      memory = new Memory(stage, this.#nowMs, this.#shared, this.#size);
      this.#memories.set(stage, memory);
    }
    return memory;
  }
}

class Memory implements StageMemory {
  readonly #stage: string;
  readonly #nowMs: () => number;
  readonly #shared: SharedMemory | undefined;
  readonly #values = new Map<string, Remembered>();
  readonly #counters = new Map<string, Counted>();
  readonly #allSizes: { characters: number };
  #characters = 0;

  constructor(stage: string, nowMs: () => number, shared: SharedMemory | undefined, allHeld: { characters: number }) {
    this.#stage = stage;
    this.#nowMs = nowMs;
    this.#shared = shared;
    this.#allSizes = allHeld;
  }

  get = async (key: string): Promise<Json | undefined> => {
    this.#checkKey('get', key);
    // Another process may have set it again.
    const text = this.#shared?.isShared() ? await this.#shared.read(this.#sharedName(key)) : undefined;
    if (text !== undefined) {
      // The store counts its own time, from when the value reached it.
      const [untilMs, value] = splitTime(text);
      return untilMs > this.#nowMs() ? parseJson(value) : undefined;
    }
    const known = this.#values.get(key);
    if (known && known.untilMs > this.#nowMs()) return parseJson(known.text);
    if (known) this.#forget(key, known);
    return undefined;
  };

  set = (key: string, value: Json, { ms }: { readonly ms: number }): void => {
    this.#checkKey('set', key);
    const forMs = this.#checkTime('set', ms);
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) throw this.#fault('set', `${named(key)} is given nothing that JSON can hold`);
    if (text.length > maxValue)
      throw this.#fault('set', `the value of ${named(key)} has ${text.length} characters, more than ${maxValue}`);
    const before = this.#values.get(key);
    if (before) this.#forget(key, before);
    if (!this.#hasRoom(text.length)) this.#forgetOutdated();
    if (!this.#hasRoom(text.length)) throw this.#full('set', key);
    const untilMs = this.#nowMs() + forMs;
    this.#values.set(key, { text, untilMs });
    this.#characters += text.length;
    this.#allSizes.characters += text.length;
    if (this.#shared?.isShared()) this.#shared.put(this.#sharedName(key), `${untilMs} ${text}`, forMs);
  };

  add = async (key: string, by: number, { ms }: { readonly ms: number }): Promise<number> => {
    this.#checkKey('add', key);
    const forMs = this.#checkTime('add', ms);
    if (!Number.isSafeInteger(by)) throw this.#fault('add', `${named(key)} is given ${by}, not a whole number`);
    const nowMs = this.#nowMs();
    // Each process is in the same period, without asking the others when it has begun.
    const period = Math.floor(nowMs / forMs);
    const untilMs = (period + 1) * forMs;
    let counted = this.#counters.get(key);
    if (!counted || counted.untilMs <= nowMs) {
      if (!counted && !this.#hasRoom(0)) this.#forgetOutdated();
      if (!counted && !this.#hasRoom(0)) throw this.#full('add', key);
      counted = { sum: 0, untilMs };
      this.#counters.set(key, counted);
    }
    counted.sum += by;
    return this.#shared?.isShared() ? this.#shared.add(`${untilMs} ${this.#sharedName(key)}`, by) : counted.sum;
  };

  #hasRoom(characters: number): boolean {
    return (
      this.#values.size + this.#counters.size < maxEntries &&
      this.#characters + characters <= maxCharacters &&
      this.#allSizes.characters + characters <= maxAllCharacters
    );
  }

  #forgetOutdated(): void {
    const nowMs = this.#nowMs();
    for (const [key, value] of this.#values) if (value.untilMs <= nowMs) this.#forget(key, value);
    for (const [key, { untilMs }] of this.#counters) if (untilMs <= nowMs) this.#counters.delete(key);
  }

  #forget(key: string, { text }: Remembered): void {
    this.#values.delete(key);
    this.#characters -= text.length;
    this.#allSizes.characters -= text.length;
  }

  /** Keys may be of any text, and others see the store's names. */
  #sharedName(key: string): string {
    return hash('sha256', `stage\0${this.#stage}\0${key}`, 'base64url');
  }

  #checkKey(method: string, key: unknown): void {
    if (typeof key !== 'string' || key === '' || key.length > maxKey)
      throw this.#fault(method, `the key must be a text of 1 to ${maxKey} characters`);
  }

  #checkTime(method: string, ms: unknown): number {
    if (typeof ms === 'number' && ms > 0 && Number.isFinite(ms)) return Math.min(Math.ceil(ms), maxMs);
    throw this.#fault(method, 'ms must be a positive number of milliseconds');
  }

  #full(method: string, key: string): FaultError {
    const size = `${this.#values.size + this.#counters.size} entries, ${this.#characters} characters`;
    return this.#fault(
      method,
      `the memory is full (${size}), so ${named(key)} can't be kept; keep less, or for a shorter time`,
    );
  }

  #fault(method: string, what: string): FaultError {
    return new FaultError({
      kind: 'stage-failed',
      message: `Transformer "${this.#stage}" failed in memory.${method}: ${what}.`,
    });
  }
}

const named = (key: string): string => JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key);

const splitTime = (text: string): readonly [untilMs: number, value: string] => {
  const at = text.indexOf(' ');
  return [Number(text.slice(0, at)), text.slice(at + 1)];
};
