import type { Block, ModelEvent } from '../../engine/model/event.ts';

/**
 * The one line of blocks that an answer's items are written into. Items may overlap on the wire, blocks never do: the first
 * that began is written at once, the others wait for their turn.
 */
export class BlockLine {
  /** Blocks that were begun. */
  #blocks = 0;
  #live: ReplyItem | undefined;
  readonly #waiting: ReplyItem[] = [];

  begin(item: ReplyItem): void {
    if (this.#live) this.#waiting.push(item);
    else this.#live = item;
  }

  /** The index of the block that opens next, or of the open one. */
  get index(): number {
    return this.#blocks;
  }

  isLive(item: ReplyItem): boolean {
    return this.#live === item;
  }

  blockStopped(): void {
    this.#blocks += 1;
  }

  /** Those whose turn it is now are written as far as they have come. */
  ended(item: ReplyItem, out: ModelEvent[]): void {
    if (this.#live !== item) return;
    this.#live = this.#waiting.shift();
    this.#live?.release(out);
    if (this.#live?.done) this.ended(this.#live, out);
  }
}

/** One output item as it grows, written as blocks. */
export class ReplyItem {
  readonly #line: BlockLine;
  /** What waits for this item's turn, without its place in the line. */
  readonly #held: ModelEvent[] = [];
  #open = false;
  done = false;

  constructor(line: BlockLine) {
    this.#line = line;
    line.begin(this);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  start(block: Block, out: ModelEvent[]): void {
    this.stop(out);
    this.#open = true;
    this.#emit({ type: 'block-start', index: this.#line.index, block }, out);
  }

  text(text: string, out: ModelEvent[]): void {
    if (text !== '') this.#emit({ type: 'text-delta', index: this.#line.index, text }, out);
  }

  thinking(text: string, out: ModelEvent[]): void {
    if (text !== '') this.#emit({ type: 'thinking-delta', index: this.#line.index, text }, out);
  }

  input(json: string, out: ModelEvent[]): void {
    if (json !== '') this.#emit({ type: 'input-delta', index: this.#line.index, json }, out);
  }

  /** Any other delta of the open block; its index is set here. */
  delta(
    event: Extract<ModelEvent, { readonly type: 'signature-delta' | 'citation-delta' | 'opaque-delta' }>,
    out: ModelEvent[],
  ): void {
    this.#emit({ ...event, index: this.#line.index }, out);
  }

  stop(out: ModelEvent[]): void {
    if (!this.#open) return;
    this.#open = false;
    this.#emit({ type: 'block-stop', index: this.#line.index }, out);
  }

  end(out: ModelEvent[]): void {
    this.stop(out);
    this.done = true;
    this.#line.ended(this, out);
  }

  /** Writes what was held back; from now on all is written at once. */
  release(out: ModelEvent[]): void {
    for (const event of this.#held) {
      out.push('index' in event ? { ...event, index: this.#line.index } : event);
      if (event.type === 'block-stop') this.#line.blockStopped();
    }
    this.#held.length = 0;
  }

  #emit(event: ModelEvent, out: ModelEvent[]): void {
    if (!this.#line.isLive(this)) {
      this.#held.push(event);
      return;
    }
    out.push(event);
    if (event.type === 'block-stop') this.#line.blockStopped();
  }
}
