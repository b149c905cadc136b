import { createHash } from 'node:crypto';
import { BoundedMap } from '../../runtime/memoize.ts';

/** Why a key is cooling down: rate-limited, not accepted, or without permission. */
export type CooldownReason = 'limited' | 'refused' | 'forbidden';

/** A period in which a key isn't used. */
export interface Cooldown {
  readonly why: CooldownReason;
  /** In milliseconds of the service's clock. */
  readonly untilMs: number;
}

/** Keys whose fingerprint is kept. */
const maxPrints = 1_000;

const prints = new BoundedMap<string, string>(maxPrints);

/** Identifies a key to other processes: the key itself is never shared. */
export const keyFingerprint = (key: string): string =>
  prints.remember(key, () => createHash('sha256').update(key).digest('base64url').slice(0, 16));

/** A bound, since other processes may know of other keys. */
const maxCooldowns = 1_000;

/** The cooldowns of keys, by their fingerprints. Created with the first one: most keys never have any. */
export class Cooldowns {
  readonly #byPrint = new BoundedMap<string, Cooldown>(maxCooldowns);

  of(key: string, nowMs: number): Cooldown | undefined {
    const print = keyFingerprint(key);
    const cooldown = this.#byPrint.get(print);
    if (cooldown === undefined || cooldown.untilMs > nowMs) return cooldown;
    this.#byPrint.delete(print);
    return undefined;
  }

  set(print: string, cooldown: Cooldown): void {
    this.#byPrint.set(print, cooldown);
  }
}
