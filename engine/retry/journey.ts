import { type Observable, of, throwError, timer } from 'rxjs';
import type { Routed } from '../exchange.ts';
import { leadTo } from '../lead-to.ts';
import { type Fault, FaultError } from '../model/fault.ts';
import type { Destination } from '../routing/destination.ts';
import { fallbacksOf } from '../routing/fallbacks.ts';
import type { Yard } from '../yard/yard.ts';
import { isInBudget } from './budget.ts';
import { outcomeOf, reasonOf } from './failed-attempt.ts';
import type { Rest } from './key-ring.ts';
import type { ModelHealth } from './model-health.ts';
import { nextStep, type Step } from './next-step.ts';
import { retryAfterMs } from './retry-after.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/**
 * One request's way through its tries: the destination that its rule chose, again where that may help, then the fallbacks. It
 * knows the clock and the upstreams' health; what comes next is decided in `nextStep`.
 */
export class Journey {
  readonly #yard: Yard;
  readonly #first: Routed;
  /** On the way to the present destination. */
  #routed: Routed;
  #health: ModelHealth;
  /** Fallbacks after the present destination; looked up when first needed. */
  #ahead: readonly Destination[] | undefined;
  #isFallback = false;
  #key = '';
  /** The key to use whatever is known of it. */
  #keepKey = false;
  #probe = false;
  /** The present try has ended in a fault. */
  #hasFailed = false;
  /** Keys that this request has tried here. */
  #keysTried: readonly string[] = none;
  /** The first destination's fault: what the client is told when all else fails too. */
  #decisive: FaultError | undefined;

  constructor(routed: Routed, yard: Yard) {
    this.#yard = yard;
    this.#first = routed;
    this.#routed = routed;
    this.#health = this.#arriveAt(routed);
  }

  /** The next try. Throws `unavailable` where the destination isn't to be asked just now. */
  depart(): Routed {
    const { resolution, repeats } = this.#routed;
    const { health, config } = this.#yard;
    const nowMs = health.nowMs();
    this.#hasFailed = false;
    this.#probe = false;
    if (!this.#keepKey) this.#chooseKey(nowMs);
    const { probe, waitMs } = this.#health.admit(nowMs, config.breaker);
    if (waitMs > 0) throw leftAlone(resolution, waitMs);
    this.#probe = probe;
    if (repeats > 0) this.#routed = { ...leadTo(this.#first, resolution, this.#yard), repeats };
    // The way was laid for the first key.
    if (this.#routed.apiKey !== this.#key) this.#routed = { ...this.#routed, apiKey: this.#key };
    return this.#routed;
  }

  /** This try is the one that a breaker lets through to see whether the upstream is mended. */
  get isProbe(): boolean {
    return this.#probe;
  }

  /** The answer has begun: others may follow. */
  prove(): void {
    this.#health.served(this.#probe);
    this.#probe = false;
  }

  /** A try has failed: emits when the next one is to begin, or fails with what the client is told. */
  goOn(error: unknown): Observable<unknown> {
    this.#hasFailed = true;
    if (!(error instanceof FaultError)) {
      this.#health.left(this.#probe);
      return throwError(() => error);
    }
    const { fault } = error;
    const { delivery, meter } = this.#first;
    const verdict = verdictOf(fault);
    const askedMs = retryAfterMs(fault.headers, this.#yard.health.nowMs());
    this.#learn(verdict, askedMs);
    if (delivery.begun) return throwError(() => error);
    if (!this.#isFallback && (this.#decisive === undefined || verdict !== 'absent')) this.#decisive = error;
    const step = this.#decide(fault, verdict, askedMs);
    this.#tell(fault, step);
    switch (step.type) {
      case 'again':
        return this.#again(step, fault);
      case 'fallback':
        return this.#fallBack();
      case 'end':
        if (this.#isFallback) meter.routed(this.#first.resolution);
        return throwError(() => this.#decisive ?? error);
      default:
        return step satisfies never;
    }
  }

  /** A try is over, well or not, or its client has left. */
  conclude(): void {
    if (this.#hasFailed) return;
    const { begun, broken } = this.#first.delivery;
    if (broken) this.#learn(verdictOf(broken), undefined);
    else if (begun) this.#served();
    else this.#health.left(this.#probe);
  }

  /** The request is over, whatever became of it. */
  end(): void {
    this.#leave();
  }

  #served(): void {
    const { resolution, request } = this.#routed;
    this.#health.served(this.#probe);
    if (resolution.provider.apiKeys.length > 1) this.#health.provider.remember(request, this.#key);
  }

  #learn(verdict: Verdict, askedMs: number | undefined): void {
    const { health, config } = this.#yard;
    this.#health.failed({ verdict, key: this.#key, probe: this.#probe, askedMs }, health.nowMs(), config);
    this.#probe = false;
  }

  #chooseKey(nowMs: number): void {
    const { resolution, request } = this.#routed;
    const { key, rest } = this.#health.provider.chooseKey(resolution.provider.apiKeys, request, this.#health, nowMs);
    this.#key = key;
    // Without anybody else to ask it is tried all the same: the upstream knows best.
    if (rest && rest.why !== 'forbidden' && this.#fallbacks.length > 0) throw allRest(resolution, rest, nowMs);
    this.#noteKey();
  }

  #noteKey(): void {
    if (this.#routed.resolution.provider.apiKeys.length > 1) this.#keysTried = [...this.#keysTried, this.#key];
  }

  #decide(fault: Fault, verdict: Verdict, askedMs: number | undefined): Step {
    const { health, config } = this.#yard;
    const { breaker } = this.#health;
    return nextStep(
      {
        verdict,
        begun: false,
        extra: this.#routed.repeats,
        isFallback: this.#isFallback,
        hasFallback: this.#fallbacks.length > 0,
        hasOtherKey: this.#otherKey(health.nowMs()) !== undefined,
        isOpen: breaker.openUntilMs !== 0,
        inBudget: this.#routed.repeats > 0 || isInBudget(this.#health.provider.traffic, config.retry),
        isDiscouraged: fault.headers?.['x-should-retry'] === 'false',
        askedMs,
        chance: health.random(),
      },
      config.retry,
    );
  }

  #otherKey(nowMs: number): string | undefined {
    return this.#routed.resolution.provider.apiKeys.find(
      (key) => !this.#keysTried.includes(key) && this.#health.restOf(key, nowMs) === undefined,
    );
  }

  #again({ afterMs, key }: Extract<Step, { type: 'again' }>, fault: Fault): Observable<unknown> {
    const { traffic } = this.#health.provider;
    if (this.#routed.repeats === 0) traffic.retrying += 1;
    this.#routed = { ...this.#routed, repeats: this.#routed.repeats + 1 };
    this.#keepKey = true;
    if (key === 'other') {
      this.#key = this.#otherKey(this.#yard.health.nowMs()) ?? this.#key;
      this.#noteKey();
    }
    this.#first.meter.retried(reasonOf(fault.kind));
    return afterMs > 0 ? timer(afterMs) : of(undefined);
  }

  #fallBack(): Observable<unknown> {
    const [next, ...ahead] = this.#fallbacks;
    if (!next) return throwError(() => this.#decisive);
    const { resolution, meter } = this.#first;
    const { provider, model } = next;
    const reason = `${resolution.reason}; fallback, since ${nameOf(this.#routed.resolution)} could not serve`;
    const request = { ...resolution.request, model };
    meter.fellBack(next);
    this.#leave();
    this.#ahead = ahead;
    this.#isFallback = true;
    this.#keepKey = false;
    this.#keysTried = none;
    this.#routed = leadTo(this.#first, { ...resolution, provider, model, reason, request, warnings: [] }, this.#yard);
    this.#health = this.#arriveAt(this.#routed);
    meter.routed(this.#routed.resolution);
    return of(undefined);
  }

  get #fallbacks(): readonly Destination[] {
    this.#ahead ??= fallbacksOf(this.#first.resolution, this.#yard.config);
    return this.#ahead;
  }

  #arriveAt({ resolution }: Routed): ModelHealth {
    const provider = this.#yard.health.of(resolution.provider);
    provider.traffic.live += 1;
    return provider.model(resolution.model);
  }

  #leave(): void {
    const { traffic } = this.#health.provider;
    traffic.live -= 1;
    if (this.#routed.repeats > 0) traffic.retrying -= 1;
  }

  /** Notes a failed try for the answer's header, the counters and the log; a single one without consequences is told elsewhere. */
  #tell(fault: Fault, step: Step): void {
    const { delivery, meter, id } = this.#first;
    const { provider, model } = this.#routed.resolution;
    if (step.type === 'end' && delivery.failed.length === 0) return;
    delivery.failed = [...delivery.failed, { provider: provider.name, model, outcome: outcomeOf(fault) }];
    meter.fault(fault);
    this.#yard.log.warn(`attempt at ${provider.name},${model} failed: ${fault.message}`, {
      requestId: id,
      kind: fault.kind,
      status: fault.status,
      keyNumber: provider.apiKeys.length > 1 ? provider.apiKeys.indexOf(this.#key) + 1 : undefined,
      next: this.#wordStep(step),
    });
  }

  #wordStep(step: Step): string {
    if (step.type === 'end') return 'nothing: the client is told of the first fault';
    const [next] = this.#fallbacks;
    if (step.type === 'fallback') return next ? `the fallback ${nameOf(next)}` : 'nothing';
    return step.key === 'other' ? 'the next key at once' : `the same again in ${Math.round(step.afterMs)} ms`;
  }
}

const none: readonly string[] = [];

const nameOf = ({ provider, model }: Destination): string => `${provider.name},${model}`;

const leftAlone = (destination: Destination, waitMs: number): FaultError =>
  absent(
    `${nameOf(destination)} has failed several times in a row and is left alone; it is tried again in ${seconds(waitMs)} s.`,
    'breaker_open',
    waitMs,
  );

const allRest = (destination: Destination, { untilMs }: Rest, nowMs: number): FaultError =>
  absent(
    `${nameOf(destination)} has no key that can be used now; the next one in ${seconds(untilMs - nowMs)} s.`,
    'keys_resting',
    untilMs - nowMs,
  );

const absent = (message: string, code: string, waitMs: number): FaultError =>
  new FaultError({ kind: 'unavailable', message, code, headers: { 'retry-after': String(seconds(waitMs)) } });

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
