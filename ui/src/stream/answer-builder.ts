import type { Answer, AnswerPart, AnswerUsage } from './answer.ts';

type Growing = { -readonly [Part in AnswerPart as Part['type']]: { -readonly [Name in keyof Part]: Part[Name] } };

/** A part that is still being written. */
export type GrowingPart = Growing[AnswerPart['type']];

/** Puts an answer together from what arrives. One per request; `snapshot` may be taken at any time. */
export class AnswerBuilder {
  model: string | undefined;
  finish: string | undefined;
  fault: string | undefined;
  ended = false;
  /** Pieces so far. */
  deltas = 0;
  /** Parts by the protocol's own name of them: an index, an item's id. */
  readonly #parts = new Map<string, GrowingPart>();
  #usage: AnswerUsage = {};

  /** The part of that name; made from `first` when there is none. */
  part(key: string, first: GrowingPart): GrowingPart {
    const known = this.#parts.get(key);
    if (known) return known;
    this.#parts.set(key, first);
    return first;
  }

  /** Adds a piece to a part; a part that wasn't begun begins with it. A piece without text is none. */
  add(key: string, type: 'text' | 'thinking' | 'tool', piece: string): void {
    if (piece === '') return;
    this.deltas += 1;
    const part = this.part(key, type === 'tool' ? { type, name: '', id: '', input: '' } : { type, text: '' });
    if (part.type === 'tool') part.input += piece;
    else if (part.type !== 'other') part.text += piece;
  }

  /** Takes counts over; those that aren't told stay as they were. */
  count(usage: AnswerUsage): void {
    this.#usage = { ...this.#usage, ...usage };
  }

  snapshot(): Answer {
    const parts = [...this.#parts.values()].map((part) => ({ ...part }));
    const { model, finish, fault, ended, deltas } = this;
    return {
      model,
      finish,
      fault,
      ended,
      usage: this.#usage,
      deltas,
      // A block that was opened and never filled has nothing to show.
      parts: parts.filter((part) => (part.type !== 'text' && part.type !== 'thinking') || part.text !== ''),
    };
  }
}
