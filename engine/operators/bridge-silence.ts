import { performance } from 'node:perf_hooks';
import { type MonoTypeOperatorFunction, Observable, Subscriber } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../reply-part.ts';
import { streamHeaders } from './headers.ts';
import { type Listening, SilenceClock } from './silence-clock.ts';

/** How often one looks whether anything was heard, per wait: to set a timer back with each chunk would cost too much. */
const looks = 8;

/**
 * Sends the protocol's keep-alive whenever a streaming client has heard nothing for `everyMs`, or up to an eighth more, from
 * the request's beginning on; never inside a record. One timer for all requests.
 */
export const bridgeSilence =
  (exchange: Exchange, everyMs: number): MonoTypeOperatorFunction<ReplyPart> =>
  (source) =>
    new Observable((subscriber) => {
      source.subscribe(new Bridge(subscriber, exchange, everyMs));
    });

class Bridge extends Subscriber<ReplyPart> implements Listening {
  readonly #to: Subscriber<ReplyPart>;
  readonly #exchange: Exchange;
  readonly #everyMs: number;
  readonly #clock: SilenceClock;
  #heard = false;
  #silentFromMs = performance.now();

  constructor(to: Subscriber<ReplyPart>, exchange: Exchange, everyMs: number) {
    super(to);
    this.#to = to;
    this.#exchange = exchange;
    this.#everyMs = everyMs;
    this.#clock = clockFor(everyMs);
    this.#clock.add(this);
  }

  look(nowMs: number): void {
    if (this.#heard) this.#silentFromMs = nowMs;
    this.#heard = false;
    if (nowMs - this.#silentFromMs < this.#everyMs) return;
    this.#silentFromMs = nowMs;
    this.#beat();
  }

  protected override _next(part: ReplyPart): void {
    this.#heard = true;
    if (part.type !== 'head' || !this.#exchange.delivery.opened) this.#to.next(part);
  }

  override unsubscribe(): void {
    this.#clock.delete(this);
    super.unsubscribe();
  }

  #beat(): void {
    const { client, delivery } = this.#exchange;
    if (!delivery.streaming || !delivery.betweenRecords) return;
    if (!delivery.opened) this.#to.next({ type: 'head', status: 200, headers: streamHeaders });
    delivery.opened = true;
    this.#to.next({ type: 'data', data: client.keepAlive });
  }
}

const clockFor = (everyMs: number): SilenceClock => {
  const clock = clocks.get(everyMs) ?? new SilenceClock(everyMs / looks);
  clocks.set(everyMs, clock);
  return clock;
};

/** By wait; a process has one, or a few under test. */
const clocks = new Map<number, SilenceClock>();
