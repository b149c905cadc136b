import { Observable, type OperatorFunction, Subscriber, take, throwError } from 'rxjs';
import type { Routed } from '../../exchange.ts';
import type { ReplyPart } from '../../http/endpoint.ts';
import type { Gateway } from '../../routing/gateway.ts';
import { Known, type SequenceStep, sequence } from '../rx/sequence.ts';
import { RetrySession } from './retry-session.ts';

/**
 * Runs `attempt` until one begins an answer: at the destination, retries there, then at its fallbacks. A failure after the
 * answer has begun is final. Unsubscribing cancels it at any point, also while it waits between attempts.
 */
export const retry =
  (gateway: Gateway, attempt: Attempt): SequenceStep<Routed, ReplyPart> =>
  (routed) =>
    new Observable((subscriber) => {
      const session = new RetrySession(routed, gateway);
      subscriber.add(() => session.close());
      runAttempts(subscriber, session, attempt);
    });

type Attempt = OperatorFunction<Routed, ReplyPart>;

/** The next attempt, and those after it. */
const runAttempts = (to: Subscriber<ReplyPart>, session: RetrySession, attempt: Attempt): void => {
  const tried = new RetrySubscriber(to, session, attempt);
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

/** Forwards one attempt's parts; if the attempt fails, the session decides what follows. */
class RetrySubscriber extends Subscriber<ReplyPart> {
  readonly #to: Subscriber<ReplyPart>;
  readonly #session: RetrySession;
  readonly #attempt: Attempt;

  constructor(to: Subscriber<ReplyPart>, session: RetrySession, attempt: Attempt) {
    super(to);
    this.#to = to;
    this.#session = session;
    this.#attempt = attempt;
  }

  begin(mayProbe?: boolean): void {
    let routed: Routed;
    try {
      routed = this.#session.next(mayProbe);
    } catch (error) {
      this.error(error);
      return;
    }
    this.#attempt(new Known(routed)).subscribe(this);
  }

  protected override _next(part: ReplyPart): void {
    // Closes the breaker at the probe's first byte: its answer may last long.
    if (part.type !== 'head' && this.#session.awaitsFirstByte) this.#session.onFirstByte();
    this.#to.next(part);
  }

  protected override _error(error: unknown): void {
    const due = this.#onFailure(error);
    this.unsubscribe();
    due
      .pipe(
        take(1),
        sequence(() => new Observable<ReplyPart>((to) => runAttempts(to, this.#session, this.#attempt))),
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
