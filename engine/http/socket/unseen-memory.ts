import type { TickListener } from '../ticker.ts';

/** How often it is measured, in milliseconds: a fast client sends half a gigabyte meanwhile. */
export const measureMs = 500;

/** Bytes of the process beside what JavaScript takes and knows of: those of libraries. */
const foreignBytes = (): number => {
  const { rss, heapTotal, external } = process.memoryUsage();
  return rss - heapTotal - external;
};

/**
 * Bounds what a server library holds of WebSocket clients' messages where it shows neither incomplete ones, whose clients may answer pings between
 * the parts, nor that it keeps the room of a connection's largest message. Only the process's memory tells: when it has grown by `maxBytes`,
 * `exceeded` is called, and it is measured again from there. Other growth is taken for it.
 */
export class UnseenMemory implements TickListener {
  before: TickListener | undefined;
  after: TickListener | undefined;
  readonly #maxBytes: () => number;
  readonly #exceeded: () => void;
  readonly #measure: () => number;
  #leastBytes = Number.POSITIVE_INFINITY;

  constructor(maxBytes: () => number, exceeded: () => void, measure = foreignBytes) {
    this.#maxBytes = maxBytes;
    this.#exceeded = exceeded;
    this.#measure = measure;
  }

  readonly tick = (): void => {
    const bytes = this.#measure();
    this.#leastBytes = Math.min(this.#leastBytes, bytes);
    if (bytes - this.#leastBytes <= this.#maxBytes()) return;
    this.#leastBytes = bytes;
    this.#exceeded();
  };
}
