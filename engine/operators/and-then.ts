import { Observable, type OperatorFunction, Subscriber } from 'rxjs';

/**
 * The stream that a value leads to, in the value's place. It is for sources of one value: a further one is left out, and the
 * source stays subscribed until it ends or that stream does: one that ends lets go of what is upstream of it. What `lead` throws is the stream's error. RxJS's `mergeMap`, made
 * for any number of streams at a time, costs several times as much.
 */
export const andThen =
  <I, O>(lead: (value: I) => Observable<O>): OperatorFunction<I, O> =>
  (source) =>
    new Observable<O>((subscriber) => {
      source.subscribe(new Leader(subscriber, lead));
    });

class Leader<I, O> extends Subscriber<I> {
  readonly #to: Subscriber<O>;
  readonly #lead: (value: I) => Observable<O>;
  #hasLed = false;

  constructor(to: Subscriber<O>, lead: (value: I) => Observable<O>) {
    super(to);
    this.#to = to;
    this.#lead = lead;
  }

  protected override _next(value: I): void {
    if (this.#hasLed) return;
    this.#hasLed = true;
    let led: Observable<O>;
    try {
      led = this.#lead(value);
    } catch (error) {
      this.#to.error(error);
      return;
    }
    led.subscribe(this.#to);
  }

  protected override _complete(): void {
    if (!this.#hasLed) this.#to.complete();
    this.unsubscribe();
  }
}
