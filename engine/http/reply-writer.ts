import { STATUS_CODES } from 'node:http';
import type { Observable, Subscription } from 'rxjs';
import type { Flow } from '../flow.ts';
import type { ReplyHead, ReplyPart, WholeReply } from '../reply-part.ts';
import type { UwsResponse } from './load-uws.ts';
import type { Patience, Waiting } from './patience.ts';
import { safeHeaders } from './reply-headers.ts';

/** What writing an answer needs to know. */
export interface ReplyTarget {
  readonly res: UwsResponse;
  readonly requestId: string;
  /** The request was `HEAD`: the answer's body stays here. */
  readonly headOnly: boolean;
  readonly flow: Flow;
  readonly patience: Patience;
  /** Milliseconds without progress after which a client is given up. */
  readonly stallMs: number;
  /** An answer that begins now is to be its connection's last. */
  readonly isLast: () => boolean;
  /** The answer to give when the observable failed before any data. */
  readonly wordError: (error: unknown) => WholeReply;
  /** The answer is complete, with this status; or the client is gone. Called once. */
  readonly finished: (status: number) => void;
  /** The observable failed after its head: its answer can't be completed. */
  readonly failed: (error: unknown) => void;
}

/** Larger bodies are handed over as the client takes them instead of all at once. */
const largeBytes = 64 * 1024;

/**
 * Writes one answer. What belongs together goes out in one cork; when the client doesn't keep up, the flow is paused and
 * nothing further piles up here.
 */
export class ReplyWriter implements Waiting {
  readonly #target: ReplyTarget;
  #subscription: Subscription | undefined;
  #head: ReplyHead | undefined;
  #started = false;
  #done = false;
  #blocked = false;
  #blockedFromMs = 0;
  #endDue = false;
  /** What has come in this turn of the event loop, still to be written. */
  #due: (string | Uint8Array)[] = [];
  #rest: Uint8Array | undefined;
  #restFrom = 0;

  constructor(target: ReplyTarget) {
    this.#target = target;
  }

  /** Subscribes and writes all that comes. */
  run(parts: Observable<ReplyPart>): void {
    this.#target.res.onWritable((offset) => this.#unblock(offset));
    const subscription = parts.subscribe({
      next: (part) => this.#next(part),
      error: (error: unknown) => this.#fail(error),
      complete: () => this.#complete(),
    });
    this.#subscription = subscription;
    // An answer that was there at once is over before the subscription is known.
    if (this.#done) subscription.unsubscribe();
  }

  /** Writes one whole answer; `close` says that the connection must not be used again. */
  answer(reply: WholeReply, close = false): void {
    if (this.#done || this.#started) return;
    this.#writeWhole(reply, close);
  }

  /** The client is gone, or has been sent away. */
  abort(): void {
    if (this.#done) return;
    this.#finish(499);
  }

  wait(nowMs: number): void {
    const { res, stallMs } = this.#target;
    if (this.#blocked && nowMs - this.#blockedFromMs > stallMs) {
      res.close();
      return;
    }
    // Sets back the native timer, which would close the connection.
    res.pause();
    res.resume();
  }

  #next(part: ReplyPart): void {
    if (this.#done || this.#endDue || this.#rest) return;
    if (part.type === 'whole') this.#whole(part);
    else if (part.type === 'head') this.#takeHead(part);
    else if (!this.#head) this.#fail(new TypeError('An answer began without a head.'));
    else if (part.data.length > 0) {
      // One read of the upstream's socket can bring many parts; each write of its own would be a system call of its own.
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

  /** One function for all batches, so that none needs a closure of its own. */
  readonly #flush = (): void => {
    if (!this.#started && this.#head) this.#openHead(this.#head);
    if (this.#due.length === 0) return;
    if (!this.#target.res.write(joined(this.#due))) this.#block();
    this.#due = [];
  };

  /** The head of an answer that uWebSockets.js itself can't mark as its connection's last; then it's the client who closes. */
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
    res.writeHeader('x-request-id', requestId).writeHeader('request-id', requestId);
  }

  #writeWhole(reply: WholeReply, close: boolean): void {
    const { res, headOnly, isLast } = this.#target;
    const body =
      typeof reply.body === 'string' && reply.body.length >= largeBytes ? Buffer.from(reply.body) : reply.body;
    res.cork(() => {
      if (!close && (headOnly || bodiless(reply.status))) {
        this.#openHead(reply);
        // Arguments to `endWithoutBody` would keep the response open, waiting for that many bytes.
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
    const { flow, patience } = this.#target;
    this.#blocked = true;
    this.#blockedFromMs = Date.now();
    // Until the answer's end: a native timer that was set once must be set back for as long as the stream lasts.
    patience.add(this);
    flow.pause();
  }

  #unblock(offset: number): boolean {
    if (this.#done) return true;
    if (this.#rest) return this.#writeMore(this.#rest, offset);
    const { res, flow } = this.#target;
    this.#blocked = false;
    // With a handler for writability, what is queued natively only moves on with the next write or cork.
    res.cork(this.#endDue ? this.#flushAndEnd : nothing);
    if (!this.#endDue) flow.resume();
    return true;
  }

  #writeMore(body: Uint8Array, offset: number): boolean {
    const { res } = this.#target;
    this.#blockedFromMs = Date.now();
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
    // What is still queued would be cut off with the native timer, so a slow client's end waits for its turn.
    if (!this.#blocked) this.#end();
  };

  /** Inside a cork. */
  #end(): void {
    // To be told to close here, uWebSockets.js would write its header into the midst of the data.
    this.#target.res.end();
    this.#finish(this.#head?.status ?? 200);
  }

  #fail(error: unknown): void {
    if (this.#done || this.#rest) return;
    this.#writeDue();
    if (!this.#started) {
      this.#writeWhole(this.#target.wordError(error), false);
      return;
    }
    this.#target.failed(error);
    // Brings about the abort, which cleans up.
    this.#target.res.close();
  }

  #finish(status: number): void {
    const { patience, finished } = this.#target;
    this.#done = true;
    this.#rest = undefined;
    this.#due = [];
    patience.delete(this);
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
