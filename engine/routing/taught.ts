import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Config, Provider } from '../config/config.ts';
import { parseJson } from '../model/json/json.ts';
import type { Lesson } from '../model/upstream-error/lesson.ts';
import { idReader, keyReader, taughtReader } from '../model/upstream-error/taught-schema.ts';
import { shorten } from '../observe/log/mask-text.ts';
import { BoundedMap, memoize } from '../runtime/memoize.ts';

/** Time for which a lesson is applied before the field is sent again, in milliseconds; doubled with each confirmation. */
const firstMs = 3_600_000;
const longestMs = 7 * 86_400_000;
/** Time for which a lesson is remembered at all, so that a later refusal confirms it, in milliseconds. */
const keptMs = 30 * 86_400_000;

/** The entries of the memory, and of each. */
const maxModels = 500;
const maxLessons = 16;

/** A lesson and how far it is trusted. */
export interface Taught {
  readonly lesson: Lesson;
  /** The refusal's words. */
  readonly words: string;
  /** Refusals that said so. */
  readonly seen: number;
  /** When the first of them did, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Until when it is applied, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** A value that members of the service share. */
interface SharedEntry {
  readonly id: string;
  readonly value: string;
  readonly forMs: number;
}

/** Exchange of lessons between members. */
interface Shared {
  readonly publish: (entry: SharedEntry) => void;
  readonly onEntry: (listener: (entry: SharedEntry) => void) => void;
}

/** A destination, as memories name it. */
interface Model {
  readonly provider: Provider;
  readonly model: string;
}

/** Begins the ids of the facts that hold lessons. */
export const taughtPrefix = 'taught ';

/** The file that keeps them, in the folder of a service. */
export const taughtFile = (home: string): string => join(home, 'taught.jsonl');

const none: readonly Taught[] = [];

/** Would take six characters each in a fact, whose length has a bound. */
const unprintable = /\p{C}+/gu;

/** Whether a provider's refusals teach. */
export const learns = ({ learn }: Pick<Config, 'learn'>, provider: Pick<Provider, 'learn'>): boolean =>
  provider.learn ?? learn ?? true;

/** Lessons from providers' refusals, by provider and model. Bounded; a provider that is configured otherwise has its own. */
export class TaughtMemory {
  readonly #known = new BoundedMap<string, readonly Taught[]>(maxModels);
  readonly #nowMs: () => number;
  readonly #shared: Shared | undefined;

  /** `nowMs`: milliseconds since 1970. */
  constructor(nowMs: () => number = Date.now, shared?: Shared) {
    this.#nowMs = nowMs;
    this.#shared = shared;
    shared?.onEntry(({ id, value }) => this.#receive(id, value));
  }

  /** All that is remembered of a model, also what isn't applied at the moment. */
  of(model: Model): readonly Taught[] {
    if (this.#known.size === 0) return none;
    return this.#known.get(keyOf(model)) ?? none;
  }

  /** All that is remembered of a provider, by model. */
  ofProvider(provider: Provider): readonly (readonly [model: string, taught: Taught])[] {
    const digest = digestOf(provider);
    return [...this.#known].flatMap(([key, all]) => {
      const [name, model, own] = parseKey(key);
      return name === provider.name && own === digest ? all.map((taught): [string, Taught] => [model, taught]) : [];
    });
  }

  /** The lessons that apply to a request now; other fields are sent again, to see whether they are still refused. */
  inForce(model: Model): readonly Taught[] {
    const nowMs = this.#nowMs();
    return this.of(model).filter(({ untilMs }) => untilMs > nowMs);
  }

  /** `words`: of the refusal. */
  learn(model: Model, lesson: Lesson, words: string): void {
    const before = this.of(model).find((one) => one.lesson.field === lesson.field);
    const same = before?.lesson.does === lesson.does ? before : undefined;
    const seen = (same?.seen ?? 0) + 1;
    const nowMs = this.#nowMs();
    const forMs = Math.min(longestMs, firstMs * 2 ** (seen - 1));
    const sinceMs = same?.sinceMs ?? nowMs;
    this.#set(keyOf(model), {
      lesson,
      words: shorten(words.replace(unprintable, ' ')),
      seen,
      sinceMs,
      untilMs: nowMs + forMs,
    });
  }

  forget(model: Model, lesson: Lesson): void {
    const key = keyOf(model);
    this.#drop(key, lesson.field);
    this.#publish(key, lesson.field, 'forgotten');
  }

  #set(key: string, taught: Taught): void {
    this.#put(key, taught);
    this.#publish(key, taught.lesson.field, JSON.stringify(taught));
  }

  #put(key: string, taught: Taught): void {
    const others = (this.#known.get(key) ?? none).filter(({ lesson }) => lesson.field !== taught.lesson.field);
    this.#known.set(key, [...others, taught].slice(-maxLessons));
  }

  #drop(key: string, field: string): void {
    const kept = (this.#known.get(key) ?? none).filter(({ lesson }) => lesson.field !== field);
    if (kept.length > 0) this.#known.set(key, kept);
    else this.#known.delete(key);
  }

  #publish(key: string, field: string, value: string): void {
    this.#shared?.publish({ id: `${taughtPrefix}${JSON.stringify([key, field])}`, value, forMs: keptMs });
  }

  #receive(id: string, value: string): void {
    if (!id.startsWith(taughtPrefix)) return;
    const name = parseJson(id.slice(taughtPrefix.length));
    if (!idReader.matches(name)) return;
    const [key, field] = name;
    const taught = parseJson(value);
    if (value === 'forgotten') this.#drop(key, field);
    else if (taughtReader.matches(taught)) this.#put(key, taught);
  }
}

/** The part of a provider's configuration that decides how it is called. */
const digestOf = memoize((provider: Provider): string => {
  const { apiKeys: _, models: __, baseUrl, otherBaseUrls = [], modelExtras, modelFacts, ...others } = provider;
  const parts = [
    baseUrl.href,
    otherBaseUrls.map(({ href }) => href),
    [...(modelExtras ?? [])],
    [...(modelFacts ?? [])],
    others,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
});

const parseKey = (key: string): readonly [name: string, model: string, digest: string] => {
  const parts = parseJson(key);
  return keyReader.matches(parts) ? parts : ['', '', ''];
};

const keyOf = ({ provider, model }: Model): string =>
  JSON.stringify([provider.name, model.slice(0, 500), digestOf(provider)]);
