import { createHash } from 'node:crypto';
import type { ModelRequest, Part } from '../../model/request.ts';
import { AnswerDigest } from './answer-digest.ts';

/**
 * Makes unique keys for the calls of one conversation, and its answers without calls, in order. A key consists of the first user
 * turn's digest, the call's id or the answer's digest, and the number of earlier ones with that. Some servers number calls again in each answer, so the id alone could match
 * another answer or conversation. Clients don't change a conversation's beginning, or vendors couldn't cache it.
 */
export class CallKeys {
  readonly #request: ModelRequest;
  readonly #counts = new Map<string, number>();
  #scope: string | undefined;

  readonly #read: (text: string) => string;

  /** `request` may be any of the conversation's requests, as the client sent it. `read`: the text that an outline's mark stands for. */
  constructor(request: ModelRequest, read: (text: string) => string = (text) => text) {
    this.#request = request;
    this.#read = read;
  }

  /** The key of the conversation's next call. */
  next(callId: string): string {
    const count = this.#counts.get(callId) ?? 0;
    this.#counts.set(callId, count + 1);
    this.#scope ??= firstTurnDigest(this.#request);
    return `${this.#scope} ${count} ${callId}`;
  }

  /** The key of the conversation's next answer without calls. */
  nextText(parts: readonly Part[]): string {
    return this.nextAnswer(digestOf(parts, this.#read));
  }

  /** The key of the conversation's next answer without calls, by its digest. */
  nextAnswer(digest: string): string {
    return this.next(`text:${digest}`);
  }

  /** Counts the calls and answers that the request already holds. */
  skipHistory(): this {
    for (const { role, parts } of this.#request.turns) {
      if (role === 'assistant' && !parts.some(isCall)) this.nextText(parts);
      for (const part of parts) if (part.type === 'tool-call') this.next(part.id);
    }
    return this;
  }
}

const isCall = ({ type }: Part): boolean => type === 'tool-call';

const digestOf = (parts: readonly Part[], read: (text: string) => string): string => {
  const digest = new AnswerDigest();
  for (const part of parts) if (part.type === 'text' || part.type === 'refusal') digest.add(read(part.text));
  return digest.end();
};

/** A digest of the first user turn's texts. */
const firstTurnDigest = ({ turns }: ModelRequest): string => {
  const hash = createHash('sha256');
  const first = turns.find(({ role }) => role === 'user');
  for (const part of first?.parts ?? []) if (part.type === 'text') hash.update(part.text).update('\0');
  return hash.digest('base64url');
};
