import type { Block, ModelEvent } from './event.ts';

/** The error for an answer without its end. */
export const noEnd = 'omitted the end of the answer';

/** The order of an answer's events (`event.ts`), on which all steps rely: the grammar of what passes between them. */
export class EventOrder {
  /** The answer has ended. */
  isOver = false;
  #started = false;
  /** The type of the open block. */
  #open: Block['type'] | undefined;
  /** Blocks that have stopped. */
  #blocks = 0;

  /** Takes an event; returns the problem if it is out of order. */
  problemIn(event: ModelEvent): string | undefined {
    if (event.type === 'error') {
      this.isOver = true;
      return undefined;
    }
    if (event.type === 'message-start') {
      if (this.#started) return 'started the answer twice';
      this.#started = true;
      return undefined;
    }
    if (!this.#started) return `gave ${event.type} before the answer has begun`;
    switch (event.type) {
      case 'message-stop':
        if (this.#open !== undefined) return 'ended the answer inside a block';
        this.isOver = true;
        return undefined;
      case 'block-start':
        if (this.#open !== undefined || event.index !== this.#blocks) return misplaced(event);
        this.#open = event.block.type;
        return undefined;
      default:
        if (this.#open === undefined || event.index !== this.#blocks) return misplaced(event);
        if (event.type === 'block-stop') {
          this.#open = undefined;
          this.#blocks += 1;
          return undefined;
        }
        return deltas[event.type].includes(this.#open) ? undefined : `gave ${event.type} in a ${this.#open} block`;
    }
  }

  /** Nothing more is taken. */
  end(): void {
    this.isOver = true;
  }
}

/** The blocks in which each delta may stand. */
const deltas: Readonly<Record<Extract<ModelEvent['type'], `${string}-delta`>, readonly Block['type'][]>> = {
  'text-delta': ['text', 'refusal'],
  'thinking-delta': ['thinking'],
  'signature-delta': ['thinking'],
  'citation-delta': ['text'],
  'input-delta': ['tool-call'],
  'opaque-delta': ['opaque'],
};

const misplaced = ({ type, index }: { readonly type: string; readonly index: number }): string =>
  `gave ${type} of block ${index} out of order`;
