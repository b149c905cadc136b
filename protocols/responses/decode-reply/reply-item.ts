import { type Block, boundBlocks, type ModelEvent } from '../../../engine/model/event.ts';
import type { StreamEvent } from '../schema-reply.ts';

/**
 * Orders the blocks of a reply's items. Items may overlap on the wire, blocks can't: the first item is written live,
 * later ones are buffered until it ends.
 */
export class BlockQueue {
  /** Items begun so far. */
  #items = 0;
  /** Blocks closed so far. */
  #blocks = 0;
  #live: ReplyItem | undefined;
  readonly #waiting: ReplyItem[] = [];
  /** Number of waiting items already released. */
  #served = 0;

  begin(item: ReplyItem): void {
    boundBlocks(this.#items);
    this.#items += 1;
    if (this.#live) this.#waiting.push(item);
    else this.#live = item;
  }

  /** The index of the open block, or of the next one. */
  get index(): number {
    return this.#blocks;
  }

  isLive(item: ReplyItem): boolean {
    return this.#live === item;
  }

  blockStopped(): void {
    this.#blocks += 1;
    boundBlocks(this.#blocks);
  }

  /** Ends an item and writes the next ones as far as they are complete. */
  ended(item: ReplyItem, out: ModelEvent[]): void {
    if (this.#live !== item) return;
    do {
      this.#live = this.#waiting[this.#served];
      if (this.#live) this.#served += 1;
      else {
        this.#waiting.length = 0;
        this.#served = 0;
      }
      this.#live?.release(out);
    } while (this.#live?.done);
  }
}

/** Writes one output item as blocks. */
export class ReplyItem {
  readonly #line: BlockQueue;
  /** Events buffered until the item is live; their index isn't final. */
  readonly #buffered: ModelEvent[] = [];
  #open = false;
  done = false;

  constructor(line: BlockQueue) {
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

  /** Adds any other delta to the open block, and sets its index. */
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

  /** Writes the buffered events; later ones are written directly. */
  release(out: ModelEvent[]): void {
    for (const event of this.#buffered) {
      out.push('index' in event ? { ...event, index: this.#line.index } : event);
      if (event.type === 'block-stop') this.#line.blockStopped();
    }
    this.#buffered.length = 0;
  }

  #emit(event: ModelEvent, out: ModelEvent[]): void {
    if (!this.#line.isLive(this)) {
      this.#buffered.push(event);
      return;
    }
    out.push(event);
    if (event.type === 'block-stop') this.#line.blockStopped();
  }
}

/** Reads one output item of a stream. */
export interface ItemReader {
  /** Reads an event of the item. */
  readonly read: (type: string, event: StreamEvent, out: ModelEvent[]) => void;
  /** Ends the item. `item` is the whole of it if the provider sent one; it completes the deltas. */
  readonly finish: (item: object | undefined, out: ModelEvent[]) => void;
}
