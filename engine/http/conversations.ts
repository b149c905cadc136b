import { type Linked, LinkedSet } from './ticker.ts';

/** The conversation up to one answer. */
export interface Conversation extends Linked<Conversation> {
  /** The answer's id. */
  readonly id: string;
  /** Its items, as the client sent them and got them; `undefined`: they had to be forgotten. */
  items: readonly Uint8Array[] | undefined;
}

/** The most bytes of one conversation, and of those of all connections. */
interface ConversationLimits {
  readonly decompressedBytes: number;
  readonly bodiesBytes: number;
}

/**
 * What all connections remember of their conversations. Where it is too much, the one goes that was used least recently: its client
 * then opens another connection, and sends the whole input.
 */
export class Conversations {
  readonly #kept = new LinkedSet<Conversation>();
  #bytes = 0;

  /** Bytes of all. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a conversation. One that no request could hold is known by its id alone. */
  keep(
    id: string,
    items: readonly Uint8Array[] | undefined,
    { decompressedBytes, bodiesBytes }: ConversationLimits,
  ): Conversation {
    const conversation: Conversation = { id, items, before: undefined, after: undefined };
    const bytes = bytesOf(conversation);
    if (!items || bytes > decompressedBytes) {
      conversation.items = undefined;
      return conversation;
    }
    this.#kept.add(conversation);
    this.#bytes += bytes;
    for (const oldest of this.#bytes > bodiesBytes ? this.#kept : noConversations) {
      if (this.#bytes <= bodiesBytes) break;
      this.forget(oldest);
    }
    return conversation;
  }

  /** The items of a conversation, which is now the one used last. */
  use(conversation: Conversation): readonly Uint8Array[] | undefined {
    if (this.#kept.has(conversation)) {
      this.#kept.delete(conversation);
      this.#kept.add(conversation);
    }
    return conversation.items;
  }

  forget(conversation: Conversation): void {
    if (!this.#kept.has(conversation)) return;
    this.#kept.delete(conversation);
    this.#bytes -= bytesOf(conversation);
    conversation.items = undefined;
  }
}

const noConversations: readonly Conversation[] = [];

const bytesOf = ({ items = [] }: Conversation): number => items.reduce((sum, { length }) => sum + length, 0);
