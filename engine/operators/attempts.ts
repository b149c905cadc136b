import { defer, Observable, type OperatorFunction, Subscriber, take, throwError } from 'rxjs';
import type { Routed } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { Journey } from '../retry/journey.ts';
import type { Yard } from '../yard/yard.ts';
import { andThen } from './and-then.ts';

/**
 * Runs `attempt` until one begins an answer: at the destination, there again where that may help, then at its fallbacks. What
 * fails after an answer has begun stays failed. Unsubscribing ends it wherever it stands, also between two tries.
 */
export const attempts = (yard: Yard, attempt: Attempt): OperatorFunction<Routed, ReplyPart> =>
  andThen(
    (routed) =>
      new Observable((subscriber) => {
        const journey = new Journey(routed, yard);
        subscriber.add(() => journey.end());
        tryOn(journey, attempt).subscribe(subscriber);
      }),
  );

type Attempt = (routed: Routed) => Observable<ReplyPart>;

/** The next try, and those after it. */
const tryOn = (journey: Journey, attempt: Attempt): Observable<ReplyPart> =>
  new Observable((subscriber) => {
    defer(() => attempt(journey.depart())).subscribe(new Try(subscriber, journey, attempt));
  });

/** Hands one try's parts on. The journey is asked only where it fails. */
class Try extends Subscriber<ReplyPart> {
  readonly #to: Subscriber<ReplyPart>;
  readonly #journey: Journey;
  readonly #attempt: Attempt;

  constructor(to: Subscriber<ReplyPart>, journey: Journey, attempt: Attempt) {
    super(to);
    this.#to = to;
    this.#journey = journey;
    this.#attempt = attempt;
  }

  protected override _next(part: ReplyPart): void {
    // Lets others through as soon as the one request that tries gets an answer, however long that lasts.
    if (part.type !== 'head' && this.#journey.isProbe) this.#journey.prove();
    this.#to.next(part);
  }

  protected override _error(error: unknown): void {
    const due = this.#goOn(error);
    this.unsubscribe();
    due
      .pipe(
        take(1),
        andThen(() => tryOn(this.#journey, this.#attempt)),
      )
      .subscribe(this.#to);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    this.#journey.conclude();
  }

  #goOn(error: unknown): Observable<unknown> {
    try {
      return this.#journey.goOn(error);
    } catch (bug) {
      return throwError(() => bug);
    }
  }
}
