import { Buffer } from 'node:buffer';
import type { Fault } from '../model/fault.ts';
import { backslash, openBrace, openBracket, quote } from '../model/json/json.ts';
import type { BodyUse, Rejection } from './endpoint.ts';

/** Memory per byte of an active body: bytes, text, parsed values, and the upstream's request. */
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

/**
 * The memory budget for the bodies of all active requests: many large ones can't exhaust memory. A body counts in full until its
 * answer has begun, and once its size after that: the answer's conversion may read the values parsed from it.
 */
export class BodyBudget {
  /** Bytes held by all claims. */
  usedBytes = 0;

  /** A claim for one request. `maxBytes`: the limit for all claims together. */
  claim(maxBytes: number): BodyClaim {
    return new BodyClaim(this, maxBytes);
  }
}

/** One request's share of the budget. */
export class BodyClaim {
  readonly #budget: BodyBudget;
  readonly #maxBytes: number;
  #held = 0;
  /** What the complete body needs. */
  #conversionBytes = 0;
  #bodyBytes = 0;
  #released = false;

  constructor(budget: BodyBudget, maxBytes: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
  }

  /** Takes further bytes; a rejection when the budget is exhausted or the request is over. */
  take(bytes: number): Rejection | undefined {
    if (this.#released || this.#held + bytes > this.#maxBytes) return { fault: tooLarge(this.#maxBytes), close: true };
    if (this.#budget.usedBytes + bytes > this.#maxBytes) return { fault: exhausted, close: true };
    this.#setHeld(this.#held + bytes);
    return undefined;
  }

  /** Takes the memory for a body of at least `bytes` once decompressed, so that a body that doesn't fit is rejected early. */
  expect(bytes: number): Rejection | undefined {
    return this.take(Math.max(0, bytes * copiesOf(bytes) - this.#held));
  }

  /** Replaces what was taken so far with what the complete body needs. */
  complete(body: Uint8Array): Rejection | undefined {
    this.#setHeld(0);
    this.#bodyBytes = body.length;
    this.#conversionBytes = body.length * copiesOf(body.length) + countNodes(body) * nodeBytes;
    return this.take(this.#conversionBytes);
  }

  /** Changes what the complete body counts for. Always granted: a retry that converts it again belongs to an admitted request. */
  hold(use: BodyUse): void {
    if (!this.#released) this.#setHeld(this.#needed(use));
  }

  /** Returns everything, for good. */
  release(): void {
    this.#setHeld(0);
    this.#released = true;
  }

  #needed(use: BodyUse): number {
    switch (use) {
      case 'conversion':
        return this.#conversionBytes;
      case 'values':
        return this.#bodyBytes;
      case 'none':
        return 0;
      default:
        return use satisfies never;
    }
  }

  #setHeld(bytes: number): void {
    this.#budget.usedBytes += bytes - this.#held;
    this.#held = bytes;
  }
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

/** Counts the arrays and objects in JSON text without parsing it. Linear; meaningless for other input. */
export const countNodes = (body: Uint8Array): number => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let nodes = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === openBracket || byte === openBrace) nodes += 1;
    else if (byte === quote) {
      at = stringEnd(bytes, at);
      if (at < 0) return nodes;
    }
  }
  return nodes;
};

/** Index of the closing quote of the string that starts at `from`; -1 if there is none. */
const stringEnd = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(quote, from + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let escapes = at;
    while (bytes[escapes - 1] === backslash) escapes -= 1;
    if ((at - escapes) % 2 === 0) return at;
  }
  return -1;
};
