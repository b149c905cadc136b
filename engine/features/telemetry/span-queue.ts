import type { Delivery, ExporterClock } from './exporter.ts';
import type { Span } from './otlp.ts';

/** Spans that wait at most; further ones are dropped. */
export const maxQueuedSpans = 2_048;
/** Spans of one body. */
export const maxBatchSpans = 512;
/** Maximum delay of a span, in milliseconds. */
export const batchMs = 5_000;

interface SpanQueueOptions {
  /** Sends a batch. */
  readonly send: (spans: readonly Span[]) => Promise<Delivery>;
  /** Called with what became of each batch. */
  readonly onDelivered: (delivery: Delivery, spans: number) => void;
  readonly onDropped: () => void;
  readonly clock: Pick<ExporterClock, 'later'>;
}

/** Collects ended spans into batches, by number and by time. One batch is under way at a time. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #spans: Span[] = [];
  #cancelTimer: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #isEnding = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#spans.length >= maxQueuedSpans) {
      this.#options.onDropped();
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= maxBatchSpans) this.#send();
    else this.#schedule();
  }

  /** Sends all that waits, now and later, without waiting for full batches. Never rejects. */
  async end(): Promise<void> {
    this.#isEnding = true;
    if (this.#spans.length > 0) this.#send();
    await this.#sending;
  }

  #schedule(): void {
    if (!this.#sending) this.#cancelTimer ??= this.#options.clock.later(() => this.#send(), batchMs);
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sending ??= this.#sendBatches().then(() => {
      this.#sending = undefined;
      if (this.#spans.length > 0) this.#schedule();
    });
  }

  async #sendBatches(): Promise<void> {
    do {
      const batch = this.#spans.splice(0, maxBatchSpans);
      this.#options.onDelivered(await this.#options.send(batch), batch.length);
    } while (this.#spans.length >= (this.#isEnding ? 1 : maxBatchSpans));
  }
}
