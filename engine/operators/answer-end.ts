import type { Answered } from '../exchange.ts';
import type { StageControl } from './rx/stages.ts';

/** `finished`: the content is complete, usage may follow. `ended`: the terminal record was read; the rest is ignored. */
export type EndState = 'open' | 'finished' | 'ended';

/** How long a finished answer may stay silent before it counts as ended, in milliseconds. */
const silenceMs = 1_000;

/**
 * Ends a stream when its answer ends, even if the upstream keeps the connection open: after the terminal record at once, after a
 * finished answer when nothing follows. The rest is read and dropped, so that the connection can be reused.
 */
export class AnswerEnd {
  state: EndState = 'open';
  readonly #answered: Pick<Answered, 'answer' | 'backpressure'>;
  readonly #control: StageControl<never>;
  #timer: NodeJS.Timeout | undefined;

  constructor(answered: Pick<Answered, 'answer' | 'backpressure'>, control: StageControl<never>) {
    this.#answered = answered;
    this.#control = control;
  }

  /** Called with the state after each chunk. */
  reached(state: EndState): void {
    this.state = state;
    this.over();
    if (state === 'ended') this.#end();
    else if (state === 'finished') this.#wait();
  }

  /** Called when the stream is over. */
  over(): void {
    clearTimeout(this.#timer);
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
    this.#control.complete();
  }
}
