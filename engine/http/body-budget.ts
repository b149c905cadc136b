import type { Fault } from '../model/fault.ts';
import { countNodes } from './count-nodes.ts';
import type { Rejection } from './endpoint.ts';

/** Memory per byte of a body: bytes, text, parsed values, and the upstream's request. */
const copiesHeld = 4;
/**
 * Memory per byte of a large body: garbage of its conversion isn't collected before the next one needs memory. Measured with
 * 58 MiB: 6.1 per byte when passed through, 7.4 when converted.
 */
const copiesOfLarge = 8;
const largeBytes = 1024 * 1024;
/** Memory of a parsed array or object beside its text, in bytes: an empty object takes 64, an empty array 40. */
const nodeBytes = 64;

const copiesOf = (bytes: number): number => (bytes < largeBytes ? copiesHeld : copiesOfLarge);

/** The memory budget for the bodies of all active requests: many large ones can't exhaust memory. */
export class BodyBudget {
  #used = 0;

  /** Bytes held by all claims. */
  get usedBytes(): number {
    return this.#used;
  }

  /** A claim for one request. `maxBytes`: the limit for all claims together. */
  claim(maxBytes: number): BodyClaim {
    let held = 0;
    let released = false;
    const take = (bytes: number): Rejection | undefined => {
      if (released || held + bytes > maxBytes) return { fault: tooLarge(maxBytes), close: true };
      if (this.#used + bytes > maxBytes) return { fault: exhausted, close: true };
      held += bytes;
      this.#used += bytes;
      return undefined;
    };
    const release = (): void => {
      this.#used -= held;
      held = 0;
    };
    return {
      take,
      expect: (bytes) => take(Math.max(0, bytes * copiesOf(bytes) - held)),
      complete(body) {
        release();
        return take(body.length * copiesOf(body.length) + countNodes(body) * nodeBytes);
      },
      release() {
        release();
        released = true;
      },
    };
  }
}

/** One request's share of the budget. */
export interface BodyClaim {
  /** Takes further bytes; a rejection when the budget is exhausted or the request is over. */
  readonly take: (bytes: number) => Rejection | undefined;
  /**
   * Takes the memory for a body of at least `bytes` once decompressed, so that a body that doesn't fit is rejected early.
   */
  readonly expect: (bytes: number) => Rejection | undefined;
  /** Replaces what was taken so far with what the complete body needs. */
  readonly complete: (body: Uint8Array) => Rejection | undefined;
  /** Returns everything, for good. */
  readonly release: () => void;
}

const exhausted: Fault = {
  kind: 'unavailable',
  message:
    'The bodies of active requests use all the memory for request bodies. LIMITS.bodiesBytes in the configuration sets the limit.',
  headers: { 'retry-after': '1' },
};

/** The body can never fit: retrying is useless. */
const tooLarge = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The request's body needs more than the ${maxBytes} bytes of memory for all request bodies. LIMITS.bodiesBytes in the configuration sets the limit.`,
});
