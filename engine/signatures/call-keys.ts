import { createHash } from 'node:crypto';
import type { ModelRequest } from '../model/request.ts';

/**
 * Names the calls of one conversation, in their order: by the user's first words, the call's id, and how often that id came
 * before. Some servers number their calls anew in each answer, so an id alone could bring another answer's reasoning, or even
 * another conversation's. Clients keep the beginning of a conversation as it is, or vendors couldn't cache it.
 */
export class CallKeys {
  readonly #request: ModelRequest;
  readonly #times = new Map<string, number>();
  #scope: string | undefined;

  /** `request` is any of the conversation, as the client wrote it. */
  constructor(request: ModelRequest) {
    this.#request = request;
  }

  /** The key of the conversation's next call. */
  next(callId: string): string {
    const time = this.#times.get(callId) ?? 0;
    this.#times.set(callId, time + 1);
    this.#scope ??= firstWords(this.#request);
    return `${this.#scope} ${time} ${callId}`;
  }

  /** Passes over the calls that the request holds. */
  skipHistory(): this {
    for (const { parts } of this.#request.turns)
      for (const part of parts) if (part.type === 'tool-call') this.next(part.id);
    return this;
  }
}

/** A digest of the user's first words. */
const firstWords = ({ turns }: ModelRequest): string => {
  const hash = createHash('sha256');
  const first = turns.find(({ role }) => role === 'user');
  for (const part of first?.parts ?? []) if (part.type === 'text') hash.update(part.text).update('\0');
  return hash.digest('base64url');
};
