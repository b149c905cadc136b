import { catchError, defer, type Observable, type OperatorFunction, throwError } from 'rxjs';
import type { Destination } from '../../config/sections/destination.ts';
import type { Routed } from '../../exchange.ts';
import { FaultError } from '../../model/fault.ts';
import { fallbacksOf } from '../../routing/fallbacks.ts';
import type { Gateway } from '../../routing/gateway.ts';
import type { Resolution } from '../../routing/resolve.ts';
import { classifyFailure } from '../../upstream/health/failure-class.ts';
import { decodeInFull } from '../decode.ts';
import { newAttempt } from '../route.ts';
import { Known, type SequenceStep } from '../rx/sequence.ts';
import { breakerOpen, decide, nameAndModel } from './decide.ts';

/**
 * Runs `attempt`, which calls no upstream, at the destination where a request would be served now: a destination that fails before its
 * call, or whose breaker is open, leads on as it does for a request. Changes nothing of the upstreams' health.
 */
export const dryRun =
  <T>(gateway: Gateway, attempt: OperatorFunction<Routed, T>): SequenceStep<Routed, T> =>
  (routed) =>
    new DryRun(routed, gateway, attempt).next();

class DryRun<T> {
  readonly #routed: Routed;
  readonly #gateway: Gateway;
  readonly #attempt: OperatorFunction<Routed, T>;
  readonly #chosen: Resolution;
  #left: readonly Destination[] | undefined;
  #isFallback = false;
  /** The first destination's fault, which the client gets if the fallbacks fail too. */
  #decisive: FaultError | undefined;

  constructor(routed: Routed, gateway: Gateway, attempt: OperatorFunction<Routed, T>) {
    this.#routed = routed;
    this.#gateway = gateway;
    this.#attempt = attempt;
    this.#chosen = routed.resolution;
  }

  next(): Observable<T> {
    return defer(() => {
      this.#refuseOpen();
      return this.#attempt(new Known(this.#routed));
    }).pipe(catchError((error: unknown) => this.#goOn(error)));
  }

  #refuseOpen(): void {
    const { health, config } = this.#gateway;
    const { provider, model } = this.#routed.resolution;
    const waitMs = health.of(provider).model(model).breaker.openUntilMs - health.nowMs();
    if (waitMs > 0 && config.breaker.faults > 0) throw breakerOpen(this.#routed.resolution, waitMs);
  }

  #goOn(error: unknown): Observable<T> {
    if (!(error instanceof FaultError)) return throwError(() => error);
    const { config } = this.#gateway;
    this.#decisive ??= error;
    decodeInFull(this.#routed, config);
    const [next, ...others] = this.#fallbacks;
    const { pool: before } = this.#routed.resolution;
    const isMember = before !== undefined && next?.pool === before;
    const situation = {
      failureClass: classifyFailure(error.fault),
      begun: false,
      // Nothing was sent, so a retry at the same destination would fail alike.
      retries: config.retry.attempts,
      isFallback: this.#isFallback,
      hasFallback: next !== undefined,
      hasMember: isMember,
      hasOtherKey: false,
      hasOtherUrl: false,
      isOpen: false,
      inBudget: false,
      isDiscouraged: false,
      requestedWaitMs: undefined,
      waitedMs: 0,
      random: 0,
    };
    if (!next || decide(situation, config.retry).type !== 'fallback') return throwError(() => this.#decisive);
    this.#left = others;
    this.#isFallback ||= !isMember;
    const { resolution } = this.#routed;
    const { provider, model, pool } = next;
    const role = isMember ? 'another member' : 'fallback';
    const reason = `${this.#chosen.reason}; ${role}, since ${nameAndModel(resolution)} could not serve`;
    const request = { ...resolution.request, model };
    const warnings = [...resolution.warnings, error.fault.message];
    newAttempt(this.#routed, { ...this.#chosen, provider, model, pool, reason, request, warnings }, this.#gateway);
    return this.next();
  }

  get #fallbacks(): readonly Destination[] {
    this.#left ??= fallbacksOf(this.#chosen, this.#gateway.config, (pool) =>
      this.#gateway.pools.ranked(pool, this.#chosen.scenario, this.#routed),
    ).filter((destination) => this.#routed.admission?.allowsModel(destination) ?? true);
    return this.#left;
  }
}
