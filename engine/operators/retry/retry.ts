import { Observable, type OperatorFunction, Subscriber, take, throwError } from 'rxjs';
import type { Routed } from '../../exchange.ts';
import type { Gateway } from '../../routing/gateway.ts';
import { Known, type SequenceStep, sequence } from '../rx/sequence.ts';
import { RetrySession } from './retry-session.ts';

/**
 * Runs attempts until one begins an answer: at the destination, retries there, then at its fallbacks. A failure after the
 * answer has begun is final. Unsubscribing cancels it at any point, also while it waits between attempts.
 */
export const retry = <T>(
  gateway: Gateway,
  run: Attempts<T>['run'],
  isBeginning: Attempts<T>['isBeginning'],
): SequenceStep<Routed, T> => {
  const attempts = { run, isBeginning };
  return (routed) =>
    new Observable((subscriber) => {
      const session = new RetrySession(routed, gateway);
      subscriber.add(() => session.close());
      runAttempts(subscriber, session, attempts);
    });
};

interface Attempts<T> {
  /** One attempt. */
  readonly run: OperatorFunction<Routed, T>;
  /** Whether a part is of the answer itself. */
  readonly isBeginning: (part: T) => boolean;
}

/** The next attempt, and those after it. */
const runAttempts = <T>(to: Subscriber<T>, session: RetrySession, attempts: Attempts<T>): void => {
  const tried = new RetrySubscriber(to, session, attempts);
  const claim = session.claimProbe();
  if (!claim) {
    tried.begin();
    return;
  }
  claim
    .then((mayProbe) => {
      try {
        if (!tried.closed) tried.begin(mayProbe);
      } finally {
        session.releaseUnusedProbe();
      }
    })
    .catch((error: unknown) => tried.error(error));
};

/** Emits one attempt's parts; if the attempt fails, the session decides what follows. */
class RetrySubscriber<T> extends Subscriber<T> {
  readonly #to: Subscriber<T>;
  readonly #session: RetrySession;
  readonly #attempts: Attempts<T>;

  constructor(to: Subscriber<T>, session: RetrySession, attempts: Attempts<T>) {
    super(to);
    this.#to = to;
    this.#session = session;
    this.#attempts = attempts;
  }

  begin(mayProbe?: boolean): void {
    let routed: Routed;
    try {
      routed = this.#session.next(mayProbe);
    } catch (error) {
      this.error(error);
      return;
    }
    this.#attempts.run(new Known(routed)).subscribe(this);
  }

  protected override _next(part: T): void {
    // Closes the breaker at the probe's first byte: its answer may last long.
    if (this.#session.awaitsFirstByte && this.#attempts.isBeginning(part)) this.#session.onFirstByte();
    this.#to.next(part);
  }

  protected override _error(error: unknown): void {
    const due = this.#onFailure(error);
    this.unsubscribe();
    due
      .pipe(
        take(1),
        sequence(() => new Observable<T>((to) => runAttempts(to, this.#session, this.#attempts))),
      )
      .subscribe(this.#to);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    this.#session.onSettled();
  }

  #onFailure(error: unknown): Observable<unknown> {
    try {
      return this.#session.onFailure(error);
    } catch (bug) {
      return throwError(() => bug);
    }
  }
}
