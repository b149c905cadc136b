import { STATUS_CODES } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Observable, Subscription } from 'rxjs';
import type { Backpressure } from '../backpressure.ts';
import type { ReplyHead, ReplyPart, WholeReply } from './endpoint.ts';
import { safeHeaders } from './safe-headers.ts';
import type { Ticker, TickListener } from './ticker.ts';
import type { UwsResponse } from './uws.ts';

/** The connection and callbacks of one answer. */
interface ReplyTarget {
  readonly res: UwsResponse;
  readonly requestId: string;
  /** The request was `HEAD`: the body is not sent. */
  readonly headOnly: boolean;
  readonly backpressure: Backpressure;
  readonly ticker: Ticker;
  /** Milliseconds without progress after which the connection is closed. */
  readonly stallMs: number;
  /** Whether an answer that starts now is the last on its connection. */
  readonly isLast: () => boolean;
  /** The answer when the observable fails before any data. */
  readonly formatError: (error: unknown) => WholeReply;
  /** The answer is complete, with its status, or the client has disconnected (499). Called once. */
  readonly finished: (status: number) => void;
  /** The observable failed after the head was sent. */
  readonly failed: (error: unknown) => void;
}

/** Bodies from this size on are written as the client reads them, not all at once. */
const largeBytes = 64 * 1024;

/**
 * Writes one answer. Data of one event loop turn is sent in one cork. A slow client pauses the source, so nothing
 * accumulates here.
 */
export class ReplyWriter implements TickListener {
  readonly #target: ReplyTarget;
  #subscription: Subscription | undefined;
  #head: ReplyHead | undefined;
  #started = false;
  #done = false;
  #blocked = false;
  #blockedFromMs = 0;
  #endDue = false;
  /** Data of this event loop turn, not yet written. */
  #due: (string | Uint8Array)[] = [];
  #rest: Uint8Array | undefined;
  #restFrom = 0;

  constructor(target: ReplyTarget) {
    this.#target = target;
  }

  /** Subscribes and writes all parts. */
  run(parts: Observable<ReplyPart>): void {
    this.#target.res.onWritable((offset) => this.#unblock(offset));
    const subscription = parts.subscribe({
      next: (part) => this.#next(part),
      error: (error: unknown) => this.#fail(error),
      complete: () => this.#complete(),
    });
    this.#subscription = subscription;
    // A synchronous answer is complete before `subscribe` returns.
    if (this.#done) subscription.unsubscribe();
  }

  /** Writes one whole answer; `close` also closes the connection. */
  answer(reply: WholeReply, close = false): void {
    if (this.#done || this.#started) return;
    this.#writeWhole(reply, close);
  }

  /** The connection is closed, by the client or by us. */
  abort(): void {
    if (this.#done) return;
    this.#finish(499);
  }

  tick(nowMs: number): void {
    const { res, stallMs } = this.#target;
    if (this.#blocked && nowMs - this.#blockedFromMs > stallMs) {
      res.close();
      return;
    }
    // Resets the native timeout, which would close the connection.
    res.pause();
    res.resume();
  }

  #next(part: ReplyPart): void {
    if (this.#done || this.#endDue || this.#rest) return;
    if (part.type === 'whole') this.#whole(part);
    else if (part.type === 'head') this.#takeHead(part);
    else if (!this.#head) this.#fail(new TypeError('An answer began without a head.'));
    else if (part.data.length > 0) {
      // One read of the upstream's socket can yield many parts; batching them saves system calls.
      if (this.#due.length === 0) process.nextTick(this.#writeDue);
      this.#due.push(part.data);
    }
  }

  readonly #writeDue = (): void => {
    if (!this.#done && this.#due.length > 0) this.#target.res.cork(this.#flush);
  };

  #takeHead(head: ReplyHead): void {
    this.#head = head;
    if (!this.#target.headOnly) return;
    this.#target.res.cork(() => {
      this.#openHead(head);
      this.#target.res.endWithoutBody();
    });
    this.#finish(head.status);
  }

  #whole(reply: WholeReply): void {
    if (this.#started || this.#due.length > 0) this.#fail(new TypeError('A whole answer came after data.'));
    else this.#writeWhole(reply, false);
  }

  /** A property, so that batches need no closure each. */
  readonly #flush = (): void => {
    if (!this.#started && this.#head) this.#openHead(this.#head);
    if (this.#due.length === 0) return;
    if (!this.#target.res.write(joined(this.#due))) this.#block();
    this.#due = [];
  };

  /** Writes the head of an answer that `end()` can't close the connection after; `connection: close` lets the client close it. */
  #openHead(head: Pick<ReplyHead, 'status' | 'headers'>): void {
    this.#writeHead(head);
    if (this.#target.isLast()) this.#target.res.writeHeader('connection', 'close');
  }

  #writeHead({ status, headers }: Pick<ReplyHead, 'status' | 'headers'>): void {
    const { res, requestId } = this.#target;
    this.#started = true;
    res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
    for (const [name, value] of safeHeaders(headers)) {
      if (!ownHeaders.has(name.toLowerCase())) res.writeHeader(name, value);
    }
    // 426 requires this header, and its name in `connection`. Source: RFC 9110, sections 7.8 and 15.5.22.
    if (status === 426) res.writeHeader('upgrade', 'HTTP/1.1').writeHeader('connection', 'upgrade');
    res.writeHeader('x-request-id', requestId).writeHeader('request-id', requestId);
  }

  #writeWhole(reply: WholeReply, close: boolean): void {
    const { res, headOnly, isLast } = this.#target;
    const body =
      typeof reply.body === 'string' && reply.body.length >= largeBytes ? Buffer.from(reply.body) : reply.body;
    res.cork(() => {
      if (!close && (headOnly || bodiless(reply.status))) {
        this.#openHead(reply);
        // `endWithoutBody` with a length would keep the response open, waiting for that many bytes.
        if (headOnly) res.writeHeader('content-length', String(Buffer.byteLength(body)));
        res.endWithoutBody();
      } else if (close || typeof body === 'string' || body.length < largeBytes) {
        this.#writeHead(reply);
        res.end(headOnly ? '' : body, close || isLast());
      } else {
        this.#openHead(reply);
        this.#writeRest(body);
      }
    });
    if (this.#rest) this.#head = { type: 'head', status: reply.status, headers: reply.headers };
    else this.#finish(reply.status);
  }

  #writeRest(body: Uint8Array): void {
    const { res } = this.#target;
    this.#restFrom = res.getWriteOffset();
    const [, complete] = res.tryEnd(body, body.length);
    if (complete) return;
    this.#rest = body;
    this.#block();
  }

  #block(): void {
    if (this.#blocked) return;
    const { backpressure, ticker } = this.#target;
    this.#blocked = true;
    this.#blockedFromMs = performance.now();
    // Stays registered until the answer's end: once set, the native timeout must be reset for as long as the stream lasts.
    ticker.add(this);
    backpressure.pause();
  }

  #unblock(offset: number): boolean {
    if (this.#done) return true;
    if (this.#rest) return this.#writeMore(this.#rest, offset);
    const { res, backpressure } = this.#target;
    this.#blocked = false;
    // With an `onWritable` handler, natively queued data is only sent with the next write or cork.
    res.cork(this.#endDue ? this.#flushAndEnd : nothing);
    if (!this.#endDue) backpressure.resume();
    return true;
  }

  #writeMore(body: Uint8Array, offset: number): boolean {
    const { res } = this.#target;
    this.#blockedFromMs = performance.now();
    const [ok, complete] = res.tryEnd(body.subarray(offset - this.#restFrom), body.length);
    if (complete) this.#finish(this.#head?.status ?? 200);
    return ok;
  }

  #complete(): void {
    if (this.#done || this.#rest) return;
    if (!this.#head) this.#fail(new TypeError('An answer ended without a head.'));
    else {
      this.#endDue = true;
      this.#target.res.cork(this.#flushAndEnd);
    }
  }

  readonly #flushAndEnd = (): void => {
    this.#flush();
    // The native timeout would cut off queued data, so the end waits until a slow client has read it.
    if (!this.#blocked) this.#end();
  };

  /** Inside a cork. */
  #end(): void {
    // No `closeConnection` argument: uWebSockets.js would write its header in the middle of the data.
    this.#target.res.end();
    this.#finish(this.#head?.status ?? 200);
  }

  #fail(error: unknown): void {
    if (this.#done || this.#rest) return;
    this.#writeDue();
    if (!this.#started) {
      this.#writeWhole(this.#target.formatError(error), false);
      return;
    }
    this.#target.failed(error);
    // Triggers the abort handler, which cleans up.
    this.#target.res.close();
  }

  #finish(status: number): void {
    const { ticker, finished } = this.#target;
    this.#done = true;
    this.#rest = undefined;
    this.#due = [];
    ticker.delete(this);
    this.#subscription?.unsubscribe();
    finished(status);
  }
}

const joined = (parts: readonly (string | Uint8Array)[]): string | Uint8Array => {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only !== undefined) return only;
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length === parts.length) return texts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
};

const nothing = (): void => {};

const ownHeaders: ReadonlySet<string> = new Set(['x-request-id', 'request-id']);

/** Source: RFC 9110, "204 No Content", "304 Not Modified". */
const bodiless = (status: number): boolean => status === 204 || status === 304;
