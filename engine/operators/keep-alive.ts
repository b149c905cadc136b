import { performance } from 'node:perf_hooks';
import { type MonoTypeOperatorFunction, Observable, Subscriber } from 'rxjs';
import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { Ticker, type TickListener } from '../http/ticker.ts';
import { relayedRecords } from './pass-records.ts';
import { streamHeaders } from './reply-headers.ts';

/** Checks for silence per interval. Restarting a timer with each chunk would cost too much. */
const ticksPerInterval = 8;

/** One in this many keep-alives is an event: some clients ignore comments. */
const keepAlivesPerEvent = 4;

/**
 * Sends the protocol's keep-alive whenever a streaming client has received nothing for `everyMs`, or up to an eighth longer.
 * It begins with the request and never interrupts a record. Every fourth keep-alive of a silence is the protocol's progress
 * event, if it has one and the answer has begun. All requests share one timer.
 */
export const keepAlive =
  (exchange: Exchange, everyMs: number): MonoTypeOperatorFunction<ReplyPart> =>
  (source) =>
    new Observable((subscriber) => {
      source.subscribe(new KeepAliveSubscriber(subscriber, exchange, everyMs));
    });

class KeepAliveSubscriber extends Subscriber<ReplyPart> implements TickListener {
  readonly #to: Subscriber<ReplyPart>;
  readonly #exchange: Exchange;
  readonly #everyMs: number;
  readonly #ticker: Ticker;
  /** A part has passed since the last tick. */
  #active = false;
  /** Keep-alives since the upstream's last part. */
  #sent = 0;
  #silentFromMs = performance.now();

  constructor(to: Subscriber<ReplyPart>, exchange: Exchange, everyMs: number) {
    super(to);
    this.#to = to;
    this.#exchange = exchange;
    this.#everyMs = everyMs;
    this.#ticker = tickerFor(everyMs);
    this.#ticker.add(this);
  }

  tick(nowMs: number): void {
    if (this.#active) this.#silentFromMs = nowMs;
    this.#active = false;
    if (nowMs - this.#silentFromMs < this.#everyMs) return;
    this.#silentFromMs = nowMs;
    this.#sendKeepAlive();
  }

  protected override _next(part: ReplyPart): void {
    this.#active = true;
    this.#sent = 0;
    if (part.type !== 'head' || !this.#exchange.progress.opened) this.#to.next(part);
  }

  override unsubscribe(): void {
    this.#ticker.delete(this);
    super.unsubscribe();
  }

  #sendKeepAlive(): void {
    const { client, progress } = this.#exchange;
    if (!progress.streaming || !progress.betweenRecords) return;
    if (!progress.opened) this.#to.next({ type: 'head', status: 200, headers: streamHeaders });
    progress.opened = true;
    this.#sent += 1;
    const event = this.#sent % keepAlivesPerEvent === 0 ? this.#progress() : '';
    this.#to.next({ type: 'data', data: event || client.keepAlive });
  }

  #progress(): string {
    const { client, progress } = this.#exchange;
    if (!progress.begun) return '';
    const relayed = client.encodeProgress && relayedRecords(progress);
    return (relayed && client.encodeProgress?.(relayed)) ?? progress.progress?.() ?? '';
  }
}

const tickerFor = (everyMs: number): Ticker => {
  const ticker = tickers.get(everyMs) ?? new Ticker(everyMs / ticksPerInterval);
  tickers.set(everyMs, ticker);
  return ticker;
};

/** By interval. A process has one, tests a few. */
const tickers = new Map<number, Ticker>();
