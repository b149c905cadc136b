import type { ModelRequest } from '../../model/request.ts';
import type { Cooldown } from './cooldowns.ts';

/** The current cooldown of a key, if any. */
type CooldownOf = (key: string) => Cooldown | undefined;

/** The key that a request uses. */
export interface KeyChoice {
  readonly key: string;
  /** Present if every key is cooling down; then this key's cooldown ends first. */
  readonly cooldown: Cooldown | undefined;
}

/** The preferred key, else the next available key from index `from` on, else the one whose cooldown ends first. */
export const chooseKey = (
  keys: readonly string[],
  cooldownOf: CooldownOf,
  from: number,
  preferred: string | undefined,
): KeyChoice => {
  if (preferred !== undefined && keys.includes(preferred) && cooldownOf(preferred) === undefined) {
    return { key: preferred, cooldown: undefined };
  }
  let soonest: KeyChoice | undefined;
  for (let step = 0; step < keys.length; step += 1) {
    const key = keys[(from + step) % keys.length] ?? '';
    const cooldown = cooldownOf(key);
    if (cooldown === undefined) return { key, cooldown };
    if (soonest?.cooldown === undefined || cooldown.untilMs < soonest.cooldown.untilMs) soonest = { key, cooldown };
  }
  return soonest ?? { key: '', cooldown: undefined };
};

/** Characters hashed from a text's end; enough to tell conversations apart. */
const maxCharacters = 1_024;

/**
 * A hash of the request's conversation: of the client's ids for it and of the first user turn's text, which later requests
 * repeat. Collisions are possible. Algorithm: FNV-1a, 32 bits.
 */
export const conversationHash = ({ turns, promptCacheKey = '', user = '' }: ModelRequest): number => {
  const first = turns.find(({ role }) => role === 'user');
  const texts = first?.parts.map((part) => (part.type === 'text' ? part.text : '')) ?? [];
  return [promptCacheKey, user, ...texts].reduce(mix, basis) >>> 0;
};

/** A hash of a text. */
export const textHash = (text: string): number => mix(basis, text) >>> 0;

const basis = 0x811c9dc5;

const mix = (hash: number, text: string): number => {
  let mixed = hash;
  for (let at = Math.max(0, text.length - maxCharacters); at < text.length; at += 1) {
    mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  }
  return mixed;
};

/** Whether the conversation already holds an answer. */
export const hasHistory = ({ turns }: ModelRequest): boolean => turns.some(({ role }) => role === 'assistant');
