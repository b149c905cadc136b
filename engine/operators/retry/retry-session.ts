import { type Observable, of, throwError, timer } from 'rxjs';
import type { Destination } from '../../config/sections/destination.ts';
import { fill, type Routed } from '../../exchange.ts';
import { type Fault, FaultError } from '../../model/fault.ts';
import { fallbacksOf } from '../../routing/fallbacks.ts';
import type { Gateway } from '../../routing/gateway.ts';
import type { Resolution } from '../../routing/resolve.ts';
import { classifyFailure, type FailureClass, isAnswered } from '../../upstream/health/failure-class.ts';
import { isWithinBudget, type ModelHealth, type ProviderHealth } from '../../upstream/health/health.ts';
import type { Load } from '../../upstream/health/load.ts';
import { decodeInFull } from '../decode.ts';
import { forgetDisproved, learnFrom } from '../learn.ts';
import { newAttempt } from '../route.ts';
import { nameDestination } from '../write-reply.ts';
import {
  allKeysCooling,
  breakerOpen,
  decide,
  isBaseUrlFailure,
  nameAndModel,
  outcomeOf,
  type RetryDecision,
  reasonOf,
  retryAfterMs,
} from './decide.ts';

/** A request's work at one destination. */
interface Stay {
  readonly provider: ProviderHealth;
  readonly health: ModelHealth;
  /** The load of the destination, if there are pools. */
  readonly load: Load | undefined;
  key: string;
  /** Keys that the request has used here. */
  keysTried: readonly string[];
  /** The request already counts as a fault of the destination; its retries don't count again. */
  counts: boolean;
}

interface Attempt {
  /** It is the one that a half-open breaker lets through. */
  probe: boolean;
  /** When it was sent; `undefined` once its answer has begun, or if that isn't measured. */
  sentAtMs: number | undefined;
  hasFailed: boolean;
}

/** The first destination's fault, or that of its pool's last member, which the client gets if the fallbacks fail too. */
interface Decisive {
  readonly error: FaultError;
  /** The destination of the fault. */
  readonly at: Resolution;
  /** It is a destination's limit on the size of requests. */
  readonly isOversized: boolean;
}

/**
 * The attempts of one request: at the destination that its rule chose, retries there, then the fallbacks. Holds the clock and the
 * upstreams' health; `decide` chooses the next action after a failure.
 */
export class RetrySession {
  readonly #gateway: Gateway;
  /** The request, routed to the current destination. */
  readonly #routed: Routed;
  /** The destination that the rules chose. */
  readonly #chosen: Resolution;
  #stay: Stay;
  #attempt: Attempt = { probe: false, sentAtMs: undefined, hasFailed: false };
  /** Fallbacks after the current destination; looked up when first needed. */
  #fallbacksLeft: readonly Destination[] | undefined;
  #isFallback = false;
  /** Milliseconds waited between attempts, at all destinations. */
  #waitedMs = 0;
  #decisive: Decisive | undefined;

  constructor(routed: Routed, gateway: Gateway) {
    this.#gateway = gateway;
    this.#routed = routed;
    this.#chosen = routed.resolution;
    this.#stay = this.#enter();
  }

  /** Claims the probe that the next attempt may be. Resolves with whether it may; `undefined`: there is nothing to wait for. */
  claimProbe(): Promise<boolean> | undefined {
    const { health, config } = this.#gateway;
    return this.#stay.health.claimProbe(health.nowMs(), config.breaker);
  }

  /** Gives up a claimed probe that isn't sent: the request has left, the breaker has closed, or all keys are cooling down. */
  releaseUnusedProbe(): void {
    this.#stay.health.releaseUnusedProbe();
  }

  /**
   * The next attempt. Throws `unavailable` if the breaker is open, or half-open while another process probes (`mayProbe` is false), or if
   * all keys are cooling down.
   */
  next(mayProbe = true): Routed {
    const { resolution, retries, withoutReasoning, summarizes } = this.#routed;
    const { health, config } = this.#gateway;
    const nowMs = health.nowMs();
    this.#attempt = { probe: false, sentAtMs: undefined, hasFailed: false };
    if (retries === 0) this.#chooseKey(nowMs);
    const { probe, waitMs } = this.#stay.health.admit(nowMs, config.breaker, mayProbe);
    if (waitMs > 0) throw breakerOpen(resolution, waitMs);
    this.#attempt.probe = probe;
    if (this.#stay.load) this.#attempt.sentAtMs = nowMs;
    if (retries > 0) newAttempt(this.#routed, resolution, this.#gateway);
    const { otherBaseUrls } = resolution.provider;
    const addressAt = otherBaseUrls ? this.#stay.provider.addresses.choose(otherBaseUrls.length + 1, nowMs) : 0;
    return fill(this.#routed, { retries, withoutReasoning, summarizes, apiKey: this.#stay.key, addressAt });
  }

  /** `onFirstByte` must be called: this attempt is the one that a half-open breaker lets through, or is measured. */
  get awaitsFirstByte(): boolean {
    return (
      (this.#attempt.probe || this.#attempt.sentAtMs !== undefined) && (this.#routed.progress.wrapped?.accepted ?? true)
    );
  }

  /** The answer has begun, which closes the breaker. */
  onFirstByte(): void {
    if (this.#attempt.probe) this.#stay.health.served(true);
    this.#attempt.probe = false;
    this.#measure();
  }

  /** Called when an attempt fails. Emits when the next one is due, or errors with the fault for the client. */
  onFailure(error: unknown): Observable<unknown> {
    this.#attempt.hasFailed = true;
    if (!(error instanceof FaultError)) {
      this.#stay.health.left(this.#attempt.probe);
      return throwError(() => error);
    }
    const { progress, listener } = this.#routed;
    const fault = progress.begun ? error.fault : learnFrom(this.#gateway, this.#routed, error.fault);
    const failureClass = this.#classify(fault);
    const requestedWaitMs = retryAfterMs(fault.headers, this.#gateway.health.nowMs());
    this.#learn(failureClass, isAnswered(fault), requestedWaitMs);
    const named = new FaultError(nameDestination(fault, this.#routed), { cause: error.cause });
    if (progress.begun) return throwError(() => named);
    // Another format, or the fault's, may need all of the request.
    decodeInFull(this.#routed, this.#gateway.config);
    // A request that is too large for one destination is too large for all only if each says so.
    const isTelling = this.#decisive?.isOversized
      ? failureClass !== 'oversized' && !wasNotCalled.has(failureClass)
      : false;
    if (isTelling || (!this.#isFallback && (this.#decisive === undefined || !wasNotCalled.has(failureClass)))) {
      const { resolution } = this.#routed;
      this.#decisive = { error: named, at: resolution, isOversized: failureClass === 'oversized' };
    }
    const decision = this.#follow(fault, failureClass, requestedWaitMs);
    this.#report(named.fault, fault.message, decision);
    switch (decision.type) {
      case 'retry':
        return this.#retry(decision, fault);
      case 'fallback':
        return this.#fallBack();
      case 'stop':
        if (this.#isFallback && this.#decisive) listener.routed?.({ ...this.#routed, resolution: this.#decisive.at });
        return throwError(() => this.#decisive?.error ?? named);
      default:
        return decision satisfies never;
    }
  }

  /** Called when an attempt is over: complete, failed or cancelled. */
  onSettled(): void {
    if (this.#attempt.hasFailed) return;
    const { begun, broken, wrapped } = this.#routed.progress;
    // A stage may give an answer although the call has failed, or without one.
    const fault = broken ?? wrapped?.fault;
    if (fault) this.#learn(this.#classify(fault), isAnswered(fault), undefined);
    else if (begun && (wrapped?.accepted ?? true)) this.#served();
    else this.#stay.health.left(this.#attempt.probe);
  }

  /** Called when the request is over. */
  close(): void {
    this.#leave();
  }

  #served(): void {
    const { resolution, request } = this.#routed;
    this.#stay.health.served(this.#attempt.probe);
    forgetDisproved(this.#routed, this.#gateway.taught);
    if (resolution.provider.apiKeys.length > 1) this.#stay.provider.remember(request, this.#stay.key);
  }

  /** A failure of a client's own credentials says nothing about the provider. */
  #classify(fault: Fault): FailureClass {
    const failureClass = classifyFailure(fault);
    if (this.#routed.resolution.provider.credentials !== 'client') return failureClass;
    if (failureClass === 'rateLimited') return 'busy';
    return failureClass === 'keyRejected' || failureClass === 'forbidden' ? 'final' : failureClass;
  }

  #learn(failureClass: FailureClass, answered: boolean, requestedWaitMs: number | undefined): void {
    const { health, config } = this.#gateway;
    const failed = {
      failureClass,
      key: this.#stay.key,
      probe: this.#attempt.probe,
      counted: this.#stay.counts,
      isAnswered: answered,
      requestedWaitMs,
    };
    const nowMs = health.nowMs();
    const counts = this.#stay.health.failed(failed, nowMs, config);
    const { resolution, addressAt } = this.#routed;
    if (resolution.provider.otherBaseUrls && isBaseUrlFailure(failureClass)) {
      this.#stay.provider.addresses.failed(addressAt, nowMs);
    }
    if (counts && this.#attempt.sentAtMs !== undefined) this.#stay.load?.failed(nowMs);
    this.#stay.counts ||= counts;
    this.#attempt.probe = false;
    this.#attempt.sentAtMs = undefined;
  }

  /** Records how long the answer took to begin. */
  #measure(): void {
    const nowMs = this.#gateway.health.nowMs();
    if (this.#attempt.sentAtMs !== undefined) this.#stay.load?.began(nowMs - this.#attempt.sentAtMs, nowMs);
    this.#attempt.sentAtMs = undefined;
  }

  #chooseKey(nowMs: number): void {
    const { resolution, request } = this.#routed;
    const { key, cooldown } = this.#stay.provider.chooseKey(
      resolution.provider.apiKeys,
      request,
      this.#stay.health,
      nowMs,
    );
    this.#stay.key = key;
    // Without a fallback the key is used anyway: the upstream may accept it.
    if (cooldown && cooldown.why !== 'forbidden' && this.#fallbacks.length > 0) {
      throw allKeysCooling(resolution, cooldown, nowMs);
    }
    this.#recordKey();
  }

  #recordKey(): void {
    if (this.#routed.resolution.provider.apiKeys.length > 1)
      this.#stay.keysTried = [...this.#stay.keysTried, this.#stay.key];
  }

  /** The next destination is another member of the same pool. */
  get #hasMember(): boolean {
    const { pool } = this.#routed.resolution;
    return pool !== undefined && this.#fallbacks[0]?.pool === pool;
  }

  #follow(fault: Fault, failureClass: FailureClass, requestedWaitMs: number | undefined): RetryDecision {
    if (fault.settled) return { type: 'stop' };
    if (fault.retryAs) return decisionOf[fault.retryAs];
    if (fault.kind === 'upstream-context' && fault.status !== 413) return this.#overflow();
    return this.#decide(fault, failureClass, requestedWaitMs);
  }

  #decide(fault: Fault, failureClass: FailureClass, requestedWaitMs: number | undefined): RetryDecision {
    const { health, config } = this.#gateway;
    const { breaker } = this.#stay.health;
    return decide(
      {
        failureClass,
        begun: false,
        retries: this.#routed.retries,
        isFallback: this.#isFallback,
        hasFallback: this.#fallbacks.length > 0,
        hasMember: this.#hasMember,
        hasOtherKey: this.#otherKey(health.nowMs()) !== undefined,
        hasOtherUrl: this.#hasOtherUrl(health.nowMs()),
        isOpen: breaker.openUntilMs !== 0,
        inBudget: this.#routed.retries > 0 || isWithinBudget(this.#stay.provider.traffic, config.retry),
        isDiscouraged: fault.headers?.['x-should-retry'] === 'false',
        requestedWaitMs,
        waitedMs: this.#waitedMs,
        random: health.random(),
      },
      config.retry,
    );
  }

  /** A prompt that is too long is tried where a larger window is known; what is in between is left out. */
  #overflow(): RetryDecision {
    const windowOf = (destination: Destination): number => knownWindow(destination, this.#gateway);
    const least = Math.max(windowOf(this.#routed.resolution), this.#routed.context.inputEstimate);
    const at = this.#fallbacks.findIndex((next) => windowOf(next) > least);
    if (at < 0) return { type: 'stop' };
    this.#fallbacksLeft = this.#fallbacks.slice(at);
    return { type: 'fallback' };
  }

  #otherKey(nowMs: number): string | undefined {
    return this.#routed.resolution.provider.apiKeys.find(
      (key) => !this.#stay.keysTried.includes(key) && this.#stay.health.cooldownOf(key, nowMs) === undefined,
    );
  }

  #hasOtherUrl(nowMs: number): boolean {
    const { otherBaseUrls } = this.#routed.resolution.provider;
    return otherBaseUrls !== undefined && this.#stay.provider.addresses.hasUsable(otherBaseUrls.length + 1, nowMs);
  }

  #retry({ afterMs, key, without }: Extract<RetryDecision, { type: 'retry' }>, fault: Fault): Observable<unknown> {
    const { traffic } = this.#stay.provider;
    if (this.#routed.retries === 0) traffic.retrying += 1;
    fill(this.#routed, {
      retries: this.#routed.retries + 1,
      ...(without === 'reasoning' && { withoutReasoning: true }),
      ...(without === 'compaction' && { summarizes: true }),
    });
    this.#waitedMs += afterMs;
    if (key === 'other') {
      this.#stay.key = this.#otherKey(this.#gateway.health.nowMs()) ?? this.#stay.key;
      this.#recordKey();
    }
    this.#routed.listener.retried?.(reasonOf(fault.kind));
    return afterMs > 0 ? timer(afterMs) : of(undefined);
  }

  #fallBack(): Observable<unknown> {
    const [next, ...others] = this.#fallbacks;
    if (!next) return throwError(() => this.#decisive?.error);
    const chosen = this.#chosen;
    const { listener, resolution } = this.#routed;
    const { provider, model, pool } = next;
    const isMember = this.#hasMember;
    const role = isMember ? 'another member' : 'fallback';
    const reason = `${chosen.reason}; ${role}, since ${nameAndModel(resolution)} could not serve`;
    const request = { ...resolution.request, model };
    listener.fellBack?.(next);
    this.#leave();
    this.#fallbacksLeft = others;
    this.#isFallback ||= !isMember;
    newAttempt(this.#routed, { ...chosen, provider, model, pool, reason, request, warnings: [] }, this.#gateway);
    this.#stay = this.#enter();
    listener.routed?.(this.#routed);
    return of(undefined);
  }

  get #fallbacks(): readonly Destination[] {
    this.#fallbacksLeft ??= fallbacksOf(this.#chosen, this.#gateway.config, (pool) =>
      this.#gateway.pools.ranked(pool, this.#chosen.scenario, this.#routed),
    ).filter((destination) => this.#routed.admission?.allowsModel(destination) ?? true);
    return this.#fallbacksLeft;
  }

  /** Counts the request as live at its provider; and as in flight to its model, where pools look at that. */
  #enter(): Stay {
    const { pools, config, health } = this.#gateway;
    const { provider: at, model, pool } = this.#routed.resolution;
    const provider = health.of(at);
    provider.traffic.live += 1;
    const known = provider.model(model);
    const load = config.pools.length > 0 ? known.load : undefined;
    if (pool) pools.taken(pool);
    load?.entered(health.nowMs());
    return { provider, health: known, load, key: '', keysTried: none, counts: false };
  }

  #leave(): void {
    this.#stay.load?.left();
    const { traffic } = this.#stay.provider;
    traffic.live -= 1;
    if (this.#routed.retries > 0) traffic.retrying -= 1;
  }

  /** Reports a failed attempt in the answer's header and to the listener. `renderFaults` reports an only attempt itself. */
  #report(fault: Fault, message: string, decision: RetryDecision): void {
    const { progress, listener } = this.#routed;
    const { provider, model } = this.#routed.resolution;
    if (decision.type === 'stop' && progress.failed.length === 0) return;
    progress.failed = [...progress.failed, { ...this.#routed.plan.shown, outcome: outcomeOf(fault) }];
    listener.attemptFailed?.({
      provider: provider.name,
      model,
      fault,
      message,
      keyNumber: provider.apiKeys.length > 1 ? provider.apiKeys.indexOf(this.#stay.key) + 1 : undefined,
      next: this.#describe(decision),
    });
  }

  #describe(decision: RetryDecision): string {
    if (decision.type === 'stop') return 'nothing: the client gets the first fault';
    const [next] = this.#fallbacks;
    const role = this.#hasMember ? "the pool's member" : 'the fallback';
    if (decision.type === 'fallback') return next ? `${role} ${nameAndModel(next)}` : 'nothing';
    if (decision.without === 'compaction') return 'the same at once, asked to write a summary';
    if (decision.without === 'refused') return 'the same at once, without what was refused';
    if (decision.without) return `the same at once without its ${decision.without}`;
    return decision.key === 'other' ? 'the next key at once' : `the same again in ${Math.round(decision.afterMs)} ms`;
  }
}

/** A model's window in tokens, as its facts or else its provider's refusals tell; 0: unknown. */
const knownWindow = (destination: Destination, { modelFacts, taught }: Gateway): number => {
  const { context } = modelFacts(destination);
  return (
    context ?? taught.of(destination).reduce((most, { lesson }) => (lesson.does === 'fit' ? lesson.window : most), 0)
  );
};

const none: readonly string[] = [];

/**
 * What follows where the vendor is known to accept the request otherwise: without the history's reasoning, with a prompt for a
 * summary in place of the compaction that it lacks, or with the key that its command prints now.
 */
const decisionOf: Readonly<Record<NonNullable<Fault['retryAs']>, RetryDecision>> = {
  'without-reasoning': { type: 'retry', afterMs: 0, key: 'same', without: 'reasoning' },
  'without-compaction': { type: 'retry', afterMs: 0, key: 'same', without: 'compaction' },
  'new-key': { type: 'retry', afterMs: 0, key: 'same' },
  taught: { type: 'retry', afterMs: 0, key: 'same', without: 'refused' },
};

/** Failures of destinations that were not called: another destination's failure is more useful. */
const wasNotCalled: ReadonlySet<FailureClass> = new Set(['unavailable', 'incompatible']);
