import { LRUCache } from 'lru-cache';
import type { ModelRequest } from '../model/request.ts';
import type { Traffic } from './budget.ts';
import { conversationOf, hasHistory } from './conversation.ts';
import { chooseKey, type KeyChoice, type Rest } from './key-ring.ts';
import { ModelHealth } from './model-health.ts';

/** Clients choose the names of models, so their number has no bound of its own. */
const mostModels = 500;
/** Conversations whose key is remembered; what went on least recently goes first. */
const mostConversations = 10_000;

/** What is known of one provider. */
export class ProviderHealth {
  readonly traffic: Traffic = { live: 0, retrying: 0 };
  readonly #models = new LRUCache<string, ModelHealth>({ max: mostModels });
  /** Keys that the provider doesn't take at all. */
  readonly #rests = new Map<string, Rest>();
  readonly #conversations = new LRUCache<number, string>({ max: mostConversations });
  #turn = 0;

  model(name: string): ModelHealth {
    const known = this.#models.get(name);
    if (known) return known;
    const made = new ModelHealth(this);
    this.#models.set(name, made);
    return made;
  }

  /** The models that were asked for. */
  get models(): Iterable<readonly [name: string, health: ModelHealth]> {
    return this.#models.entries();
  }

  restOf(key: string, nowMs: number): Rest | undefined {
    const rest = this.#rests.get(key);
    return rest === undefined || rest.untilMs <= nowMs ? undefined : rest;
  }

  refused(key: string, rest: Rest): void {
    this.#rests.set(key, rest);
  }

  /**
   * The key for a request: the one that served its conversation before, since the vendor's cache of the prompt belongs to the
   * key's account; else the next one in turn.
   */
  chooseKey(keys: readonly string[], request: ModelRequest, model: ModelHealth, nowMs: number): KeyChoice {
    const [only = ''] = keys;
    if (keys.length === 1) return { key: only, rest: model.restOf(only, nowMs) };
    const preferred = hasHistory(request) ? this.#conversations.get(conversationOf(request)) : undefined;
    const choice = chooseKey(keys, (key) => model.restOf(key, nowMs), this.#turn, preferred);
    if (choice.key !== preferred) this.#turn = (keys.indexOf(choice.key) + 1) % keys.length;
    return choice;
  }

  /** Keeps in mind which key served a conversation; only called where there are several. */
  remember(request: ModelRequest, key: string): void {
    this.#conversations.set(conversationOf(request), key);
  }
}
