import { createHash } from 'node:crypto';
import type { ModelRequest } from '../model/request.ts';

/**
 * Makes unique keys for the calls of one conversation, in order. A key consists of the first user turn's digest, the call's id,
 * and the number of earlier calls with that id. Some servers number calls anew in each answer, so the id alone could match
 * another answer or conversation. Clients don't change a conversation's beginning, or vendors couldn't cache it.
 */
export class CallKeys {
  readonly #request: ModelRequest;
  readonly #counts = new Map<string, number>();
  #scope: string | undefined;

  /** `request` may be any of the conversation's requests, as the client sent it. */
  constructor(request: ModelRequest) {
    this.#request = request;
  }

  /** The key of the conversation's next call. */
  next(callId: string): string {
    const count = this.#counts.get(callId) ?? 0;
    this.#counts.set(callId, count + 1);
    this.#scope ??= firstTurnDigest(this.#request);
    return `${this.#scope} ${count} ${callId}`;
  }

  /** Counts the calls that the request already holds. */
  skipHistory(): this {
    for (const { parts } of this.#request.turns)
      for (const part of parts) if (part.type === 'tool-call') this.next(part.id);
    return this;
  }
}

/** A digest of the first user turn's texts. */
const firstTurnDigest = ({ turns }: ModelRequest): string => {
  const hash = createHash('sha256');
  const first = turns.find(({ role }) => role === 'user');
  for (const part of first?.parts ?? []) if (part.type === 'text') hash.update(part.text).update('\0');
  return hash.digest('base64url');
};
