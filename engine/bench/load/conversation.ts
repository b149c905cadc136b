import { corpusText } from '../corpus.ts';
import type { Wire } from '../wire.ts';
import { exchange } from './turns.ts';
import { bodyWriters } from './write-body.ts';

/** What the requests of a conversation look like. */
interface ConversationPlan {
  readonly wire: Wire;
  readonly streamed: boolean;
  /** Bytes of the first request's body, or a little more. */
  readonly bytes: number;
  readonly model: string;
  readonly maxTokens: number;
}

/** The same recorded request each time. */
export class RecordedRequest {
  readonly #body: Body;

  constructor(body: string) {
    const piece = Buffer.from(body);
    this.#body = { pieces: [piece], bytes: piece.length };
  }

  next(): Body {
    return this.#body;
  }
}

/** A body in pieces; only the last turns were written for this request. */
interface Body {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

/** From this size on it is a conversation with tools, which grows; below, a question of its own each time. */
const longBytes = 50_000;

/** After so many exchanges the conversation begins again at its first size, with turns never seen before. */
const mostExchanges = 16;

const exchangeSize = 600;

/**
 * The requests of one conversation, each with all that came before and one turn that is new, as agents send them. What is old
 * is the same bytes, made once, so that a megabyte costs next to nothing to send.
 */
export class Conversation {
  readonly #plan: ConversationPlan;
  readonly #base: Buffer;
  readonly #tail: Buffer;
  #grown: Buffer[] = [];
  #turns = 0;

  constructor(plan: ConversationPlan) {
    this.#plan = plan;
    this.#base = Buffer.from(baseText(plan));
    this.#tail = Buffer.from(bodyWriters[plan.wire].tail);
  }

  /** The next request's body. */
  next(): Body {
    const { turn } = bodyWriters[this.#plan.wire];
    const n = this.#turns;
    this.#turns += 1;
    const size = Math.max(20, Math.min(300, this.#plan.bytes / 4));
    const question = turn({ type: 'user', text: lastTurn(n, size) });
    const pieces = [this.#base, ...this.#grown, Buffer.from(question), this.#tail];
    if (this.#plan.bytes >= longBytes) this.#grow(n, question);
    return { pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0) };
  }

  #grow(n: number, question: string): void {
    if (this.#grown.length >= mostExchanges) {
      this.#grown = [];
      return;
    }
    const { turn } = bodyWriters[this.#plan.wire];
    const answer = turn({ type: 'assistant', text: `Answer to ${n}: ${corpusText(n, exchangeSize)}` });
    this.#grown.push(Buffer.from(`${question},${answer},`));
  }
}

/** The new turn of the n-th request; its first words occur nowhere else. */
const lastTurn = (n: number, size: number): string => `New turn ${n}: ${corpusText(n * 7, size)}`;

const baseText = ({ wire, streamed, bytes, model, maxTokens }: ConversationPlan): string => {
  const { head, turn } = bodyWriters[wire];
  const long = bytes >= longBytes;
  const pieces = [head({ streamed, withTools: long, model, maxTokens })];
  let length = Buffer.byteLength(pieces[0] ?? '') + 420;
  for (let n = 0; length < bytes; n += 1) {
    const size = long ? exchangeSize * 4 : Math.min(300, bytes - length);
    const turns = long
      ? exchange(n, size)
      : ([
          { type: 'user', text: corpusText(n * 31, size / 2) },
          { type: 'assistant', text: corpusText(n * 53, size / 2) },
        ] as const);
    const text = `${turns.map(turn).join(',')},`;
    pieces.push(text);
    length += Buffer.byteLength(text);
  }
  return pieces.join('');
};
