import { type MonoTypeOperatorFunction, Observable, Subscriber } from 'rxjs';
import type { Answered } from '../exchange.ts';

/** The progress of a streamed answer: written by the step that reads the stream, read by `untilEnd`. */
export interface Ending {
  /** `finished`: the content is complete, usage may follow. `ended`: the terminal record was read; the rest is ignored. */
  state: 'open' | 'finished' | 'ended';
}

export const newEnding = (): Ending => ({ state: 'open' });

/** How long a finished answer may stay silent before it counts as ended, in milliseconds. */
const silenceMs = 1_000;

/**
 * Ends a stream when its answer ends, even if the upstream keeps the connection open: after the terminal record at once, after a
 * finished answer when nothing follows. The rest is read and dropped, so that the connection can be reused.
 */
export const untilEnd = (answered: Answered, ending: Ending): MonoTypeOperatorFunction<Uint8Array> =>
  answered.answer.streamed
    ? (source) =>
        new Observable((subscriber) => {
          source.subscribe(new UntilEndSubscriber(subscriber, answered, ending));
        })
    : (source) => source;

class UntilEndSubscriber extends Subscriber<Uint8Array> {
  readonly #to: Subscriber<Uint8Array>;
  readonly #answered: Answered;
  readonly #ending: Ending;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Subscriber<Uint8Array>, answered: Answered, ending: Ending) {
    super(to);
    this.#to = to;
    this.#answered = answered;
    this.#ending = ending;
  }

  protected override _next(chunk: Uint8Array): void {
    clearTimeout(this.#timer);
    this.#to.next(chunk);
    if (this.closed || this.#ending.state === 'open') return;
    if (this.#ending.state === 'ended') this.#end();
    else this.#wait();
  }

  override unsubscribe(): void {
    clearTimeout(this.#timer);
    super.unsubscribe();
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      // A body that is paused for a slow client isn't silent.
      if (this.#answered.backpressure.paused) this.#wait();
      else this.#end();
    }, silenceMs);
  }

  #end(): void {
    this.#answered.answer.drain();
    this.#to.complete();
    this.unsubscribe();
  }
}
