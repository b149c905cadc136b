import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import { Ticker, type TickListener } from '../http/ticker.ts';
import type { SseRecord } from '../model/wire/sse-record.ts';
import { relayedRecords } from './relay-records.ts';
import type { Handlers, StageControl, StreamStage } from './rx/stages.ts';
import { streamHeaders } from './write-reply.ts';

/** Checks for silence per interval. */
const ticksPerInterval = 8;

/** One in this many keep-alives is an event: some clients ignore comments. */
const keepAlivesPerEvent = 4;

/**
 * Sends the protocol's keep-alive whenever a streaming client has received nothing for `everyMs`, or up to an eighth longer.
 * It begins with the request and never interrupts a record. Every fourth keep-alive of a silence is the protocol's progress
 * event, if it has one and the answer has begun. All requests share one timer: restarting one with each chunk would cost too much.
 */
export const keepAlive =
  (everyMs: number, ticker = new Ticker(everyMs / ticksPerInterval)): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  (exchange, control) =>
    new KeepAlive(exchange, control, everyMs, ticker);

class KeepAlive implements Handlers<ReplyPart, ReplyPart>, TickListener {
  before: TickListener | undefined;
  after: TickListener | undefined;
  readonly #exchange: Exchange;
  readonly #control: StageControl<ReplyPart>;
  readonly #everyMs: number;
  readonly #ticker: Ticker;
  /** A part has passed since the last tick. */
  #active = false;
  /** Keep-alives since the upstream's last part. */
  #sent = 0;
  #silentFromMs: number;

  constructor(exchange: Exchange, control: StageControl<ReplyPart>, everyMs: number, ticker: Ticker) {
    this.#exchange = exchange;
    this.#control = control;
    this.#everyMs = everyMs;
    this.#ticker = ticker;
    this.#silentFromMs = ticker.nowMs();
    ticker.add(this);
  }

  tick(nowMs: number): void {
    if (this.#active) this.#silentFromMs = nowMs;
    this.#active = false;
    if (nowMs - this.#silentFromMs < this.#everyMs) return;
    this.#silentFromMs = nowMs;
    this.#sendKeepAlive();
  }

  next(part: ReplyPart): ReplyPart | undefined {
    this.#active = true;
    this.#sent = 0;
    return part.type === 'head' && this.#exchange.progress.opened ? undefined : part;
  }

  finalize(): void {
    this.#ticker.delete(this);
  }

  #sendKeepAlive(): void {
    const { client, progress } = this.#exchange;
    if (!progress.streaming || !progress.betweenRecords) return;
    if (!progress.opened) this.#control.emit({ type: 'head', status: 200, headers: streamHeaders });
    progress.opened = true;
    this.#sent += 1;
    const records = this.#sent % keepAlivesPerEvent === 0 ? this.#progress() : [];
    this.#control.emit(records.length > 0 ? { type: 'data', records } : { type: 'data', data: client.keepAlive });
  }

  #progress(): readonly SseRecord[] {
    const { client, progress } = this.#exchange;
    const records: SseRecord[] = [];
    if (!progress.begun) return records;
    const relayed = relayedRecords(progress);
    if (!relayed) progress.writing?.progress?.(records);
    const record = relayed && client.encodeProgress?.(relayed);
    return record ? [record] : records;
  }
}
