import type { Answer, AnswerPart, AnswerUsage } from './answer.ts';

type Growing = { -readonly [Part in AnswerPart as Part['type']]: { -readonly [Name in keyof Part]: Part[Name] } };

/** A part that is still being written. */
export type GrowingPart = Growing[AnswerPart['type']];

/** Assembles a response from its pieces. `snapshot` may be taken at any time. */
export class AnswerBuilder {
  model: string | undefined;
  finish: string | undefined;
  fault: string | undefined;
  ended = false;
  /** Pieces so far. */
  deltas = 0;
  /** Parts by the protocol's own key: an index or an item's id. */
  readonly #parts = new Map<string, GrowingPart>();
  #usage: AnswerUsage = {};

  /** The part with this key; `first` becomes it if there is none. */
  part(key: string, first: GrowingPart): GrowingPart {
    const known = this.#parts.get(key);
    if (known) return known;
    this.#parts.set(key, first);
    return first;
  }

  /** Appends a piece to a part, which is created if needed. Empty pieces are ignored. */
  add(key: string, type: 'text' | 'thinking' | 'tool', piece: string): void {
    if (piece === '') return;
    this.deltas += 1;
    const part = this.part(key, type === 'tool' ? { type, name: '', id: '', input: '' } : { type, text: '' });
    if (part.type === 'tool') part.input += piece;
    else if (part.type !== 'other') part.text += piece;
  }

  /** Updates token counts; missing ones stay. */
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
      // Blocks without content aren't shown.
      parts: parts.filter((part) => (part.type !== 'text' && part.type !== 'thinking') || part.text !== ''),
    };
  }
}
