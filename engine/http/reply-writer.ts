import type { Observable, Observer, Subscription } from 'rxjs';
import { clientGone } from '../model/status.ts';
import type { Backpressure } from '../runtime/backpressure.ts';
import { corsHeaders } from './access/cors.ts';
import { dataOf, type ReplyHead, type ReplyPart, type WholeReply } from './endpoint.ts';
import { safeHeaders } from './headers.ts';
import type { HttpLimits } from './settings.ts';
import type { HttpStream, StreamWriter } from './stream.ts';
import type { Ticker, TickListener } from './ticker.ts';

/** The request that is answered. */
export interface ReplyTarget {
  readonly stream: HttpStream;
  readonly id: string;
  /** The body isn't sent for `HEAD`. */
  readonly method: string;
  readonly backpressure: Backpressure;
  readonly ticker: Ticker;
  readonly limits: Pick<HttpLimits, 'stallMs'>;
  /** Whether an answer that starts now is the last on its connection. */
  readonly isLast: boolean;
  /** The origin of the foreign page that may read the answer; `undefined`: none may. */
  readonly pageOrigin?: string | undefined;
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
 * Writes one answer. Data of one event loop tick is sent in one cork. A slow client pauses the source, so nothing
 * accumulates here.
 */
export class ReplyWriter implements Observer<ReplyPart>, StreamWriter, TickListener {
  before: TickListener | undefined;
  after: TickListener | undefined;
  readonly #target: ReplyTarget;
  readonly #stream: HttpStream;
  #subscription: Subscription | undefined;
  #head: ReplyHead | undefined;
  #status = 200;
  #started = false;
  #done = false;
  #blocked = false;
  #blockedFromMs = 0;
  #endDue = false;
  /** A large whole body is being sent. */
  #sending = false;
  /** The rest of large data that the client is still reading. */
  #rest: Uint8Array | undefined;
  /** Data of this event loop tick, not yet written. */
  #due: (string | Uint8Array)[] | undefined;

  constructor(target: ReplyTarget) {
    this.#target = target;
    this.#stream = target.stream;
  }

  /** Subscribes and writes all parts. */
  run(parts: Observable<ReplyPart>): void {
    this.#subscription = parts.subscribe(this);
    // A synchronous answer is complete before `subscribe` returns.
    if (this.#done) this.#subscription.unsubscribe();
  }

  /** Writes one whole answer; `close` also closes the connection. */
  answer(reply: WholeReply, close: boolean): void {
    if (!this.#done && !this.#started) this.#writeWhole(reply, close);
  }

  /** The connection is closed, by the client or by us. */
  abort(): void {
    if (!this.#done) this.#finish(clientGone);
  }

  next(part: ReplyPart): void {
    if (this.#done || this.#endDue || this.#sending) return;
    if (part.type === 'whole') this.#whole(part);
    else if (part.type === 'head') this.#takeHead(part);
    else if (!this.#head) this.error(new TypeError('An answer began without a head.'));
    else {
      const data = part.records ? dataOf(part) : part.data;
      if (data.length === 0) return;
      // One read of the upstream's socket can yield many parts; batching them saves system calls.
      if (this.#due) this.#due.push(data);
      else {
        this.#due = [data];
        process.nextTick(ReplyWriter.#writeDue, this);
      }
    }
  }

  error(error: unknown): void {
    if (this.#done || this.#sending) return;
    ReplyWriter.#writeDue(this);
    if (!this.#started) {
      this.#writeWhole(this.#target.formatError(error), false);
      return;
    }
    this.#target.failed(error);
    // Triggers the abort handler, which cleans up.
    this.#stream.close();
  }

  complete(): void {
    if (this.#done || this.#sending) return;
    if (!this.#head) this.error(new TypeError('An answer ended without a head.'));
    else {
      this.#endDue = true;
      this.#stream.cork(() => this.#flushAndEnd());
    }
  }

  tick(nowMs: number): void {
    if (this.#blocked && nowMs - this.#blockedFromMs > this.#target.limits.stallMs) this.#stream.close();
    else this.#stream.keepOpen();
  }

  writable(complete: boolean): void {
    if (this.#done) return;
    if (complete) this.#finish(this.#status);
    else if (this.#sending) this.#blockedFromMs = this.#target.ticker.nowMs();
    else {
      this.#blocked = false;
      this.#flush();
      if (this.#blocked) return;
      if (this.#endDue) this.#flushAndEnd();
      else this.#target.backpressure.resume();
    }
  }

  #takeHead(head: ReplyHead): void {
    this.#head = head;
    if (this.#target.method !== 'HEAD') return;
    this.#stream.cork(() => {
      this.#writeHead(head, this.#target.isLast);
      this.#stream.endWithoutBody();
    });
    this.#finish(head.status);
  }

  #whole(reply: WholeReply): void {
    if (this.#started || this.#due) this.error(new TypeError('A whole answer came after data.'));
    else this.#writeWhole(reply, false);
  }

  static #writeDue(writer: ReplyWriter): void {
    if (!writer.#done && writer.#due) writer.#stream.cork(() => writer.#flush());
  }

  /** Inside a cork. */
  #flush(): void {
    if (!this.#started && this.#head) this.#writeHead(this.#head, this.#target.isLast);
    if (this.#rest) this.#writeLarge(this.#rest);
    if (!this.#due || this.#rest) return;
    const data = joined(this.#due);
    this.#due = undefined;
    if (data.length >= largeBytes) this.#writeLarge(typeof data === 'string' ? Buffer.from(data) : data);
    else if (!this.#stream.write(data, this)) this.#block();
  }

  /** In pieces as the client reads them: the server would copy what its socket doesn't take. */
  #writeLarge(data: Uint8Array): void {
    let from = 0;
    while (from < data.length && !this.#blocked) {
      const piece = data.subarray(from, from + largeBytes);
      from += piece.length;
      if (!this.#stream.write(piece, this)) this.#block();
    }
    this.#rest = from < data.length ? data.subarray(from) : undefined;
  }

  /** `last`: asks the client to close the connection, for an answer that `endWith` doesn't end. */
  #writeHead({ status, headers }: Pick<ReplyHead, 'status' | 'headers'>, last: boolean, length?: number): void {
    const { id } = this.#target;
    const list = safeHeaders(headers);
    // 426 requires this header, and its name in `connection`. Source: RFC 9110, sections 7.8 and 15.5.22.
    if (status === 426) list.push('upgrade', 'HTTP/1.1', 'connection', 'upgrade');
    list.push('x-request-id', id, 'request-id', id);
    const { pageOrigin } = this.#target;
    if (pageOrigin !== undefined) list.push(...corsHeaders(pageOrigin));
    if (last) list.push('connection', 'close');
    if (length !== undefined) list.push('content-length', String(length));
    this.#started = true;
    this.#status = status;
    this.#stream.writeHead(status, list);
  }

  #writeWhole(reply: WholeReply, close: boolean): void {
    const { isLast, method } = this.#target;
    const headOnly = method === 'HEAD';
    const body =
      typeof reply.body === 'string' && reply.body.length >= largeBytes ? Buffer.from(reply.body) : reply.body;
    this.#stream.cork(() => {
      if (!close && (headOnly || bodiless(reply.status))) {
        this.#writeHead(reply, isLast, headOnly ? Buffer.byteLength(body) : undefined);
        this.#stream.endWithoutBody();
      } else if (close || typeof body === 'string' || body.length < largeBytes) {
        this.#writeHead(reply, false);
        this.#stream.endWith(headOnly ? '' : body, close || isLast);
      } else {
        this.#writeHead(reply, isLast);
        this.#sending = !this.#stream.send(body, this);
      }
    });
    if (this.#sending) this.#block();
    else this.#finish(reply.status);
  }

  #block(): void {
    if (this.#blocked) return;
    const { backpressure, ticker } = this.#target;
    this.#blocked = true;
    this.#blockedFromMs = ticker.nowMs();
    // Stays registered until the answer's end: once set, the native timeout must be reset for as long as the stream lasts.
    ticker.add(this);
    backpressure.pause();
  }

  /** Inside a cork. */
  #flushAndEnd(): void {
    this.#flush();
    // The server's own timeout would cut off queued data, so the end waits until a slow client has read it.
    if (this.#blocked) return;
    this.#stream.end();
    this.#finish(this.#status);
  }

  #finish(status: number): void {
    this.#done = true;
    this.#due = undefined;
    this.#rest = undefined;
    this.#target.ticker.delete(this);
    this.#subscription?.unsubscribe();
    this.#target.finished(status);
  }
}

const joined = (parts: readonly (string | Uint8Array)[]): string | Uint8Array => {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only !== undefined) return only;
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length === parts.length) return texts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
};

/** Source: RFC 9110, "204 No Content", "304 Not Modified". */
const bodiless = (status: number): boolean => status === 204 || status === 304;
