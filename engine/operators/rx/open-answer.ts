import { Observable, Subscriber } from 'rxjs';
import { isJsonSpace, openBrace, openBracket } from '../../model/json/json.ts';
import type { AnswerChunk } from '../../model/wire/sse-record.ts';

/** An answer whose first bytes are known. */
interface OpenedAnswer {
  readonly streamed: boolean;
  /** From its first byte on that counts. */
  readonly body: Observable<AnswerChunk>;
}

/** Bytes of comments that are read before an answer's label decides. */
const maxUndecidedBytes = 64 * 1024;

/**
 * Reads the first bytes of an answer, which tell whether it is a stream of records or one JSON body: some servers and proxies label it
 * wrongly. `labelled`: what its label says, which decides about other bytes. Emits once what `accept` makes of it. Drops a byte order mark,
 * which clients may not expect, and comments before JSON. Comments before records wait for the first of these, as they do in a stream that
 * is relayed. The body must be subscribed to at once.
 */
export const openAnswer = <T>(
  body: Observable<AnswerChunk>,
  labelled: boolean,
  accept: (opened: OpenedAnswer) => T,
): Observable<T> =>
  new Observable((subscriber) => {
    const opening = new Opening(subscriber, labelled, accept);
    body.subscribe(opening);
    return () => opening.leave();
  });

/** Subscribed to the answer's bytes; what reads the body ends it. */
class Opening<T> extends Subscriber<AnswerChunk> {
  readonly #to: Subscriber<T>;
  readonly #labelled: boolean;
  readonly #accept: (opened: OpenedAnswer) => T;
  readonly #first = new FirstBytes();
  /** Chunks that the reader hasn't received yet. */
  #buffered: AnswerChunk[] = [];
  #bufferedBytes = 0;
  #isOpen = false;
  /** Whether those who were told of the answer have had the time to subscribe. */
  #isTold = false;
  /** Whether the reader has got what was buffered. */
  #isRead = false;
  #reader: Subscriber<AnswerChunk> | undefined;
  #over: 'no' | 'complete' | { readonly error: unknown } = 'no';

  constructor(to: Subscriber<T>, labelled: boolean, accept: (opened: OpenedAnswer) => T) {
    super();
    this.#to = to;
    this.#labelled = labelled;
    this.#accept = accept;
  }

  /** The answer isn't awaited any more. Its reader, if it has one, decides about the bytes. */
  leave(): void {
    if (!this.#reader) this.unsubscribe();
  }

  protected override _next(chunk: AnswerChunk): void {
    if (this.#isRead) this.#reader?.next(chunk);
    else this.#take(chunk);
  }

  protected override _error(error: unknown): void {
    this.#end({ error });
    this.unsubscribe();
  }

  protected override _complete(): void {
    this.#end('complete');
    this.unsubscribe();
  }

  #take(chunk: AnswerChunk): void {
    if (this.#isOpen || !(chunk instanceof Uint8Array)) {
      this.#buffered.push(chunk);
      if (!this.#isOpen) this.#open(true);
      return;
    }
    const { at, begins } = this.#first.take(chunk);
    if (begins === 'json') {
      // White space passes as it came.
      if (this.#first.hasMore) this.#buffered = [chunk.subarray(at)];
      else this.#buffered.push(chunk);
      this.#open(false);
      return;
    }
    const bytes = this.#bufferedBytes === 0 ? chunk.subarray(this.#first.markIn(chunk)) : chunk;
    if (bytes.length > 0) this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (begins !== undefined) this.#open(begins === 'records' || this.#labelled);
    else if (this.#bufferedBytes > maxUndecidedBytes) this.#open(this.#labelled);
  }

  #open(streamed: boolean): void {
    this.#isOpen = true;
    const body = new Observable<AnswerChunk>((reader) => {
      this.#reader = reader;
      if (this.#isTold) this.#flush(reader);
      return this;
    });
    let accepted: T;
    try {
      accepted = this.#accept({ streamed, body });
    } catch (error) {
      this.#to.error(error);
      return;
    }
    this.#to.next(accepted);
    this.#to.complete();
    this.#isTold = true;
    // A stage's operator may subscribe several times at once: none of these misses the first bytes.
    if (this.#reader) this.#flush(this.#reader);
  }

  #flush(reader: Subscriber<AnswerChunk>): void {
    const buffered = this.#buffered;
    this.#buffered = [];
    this.#isRead = true;
    for (const chunk of buffered) reader.next(chunk);
    if (this.#over !== 'no') this.#finish(reader, this.#over);
  }

  #end(over: 'complete' | { readonly error: unknown }): void {
    this.#over = over;
    if (!this.#isOpen) this.#open(this.#labelled);
    else if (this.#isRead && this.#reader) this.#finish(this.#reader, over);
  }

  #finish(reader: Subscriber<AnswerChunk>, over: 'complete' | { readonly error: unknown }): void {
    if (over === 'complete') reader.complete();
    else reader.error(over.error);
  }
}

/** The beginning of an answer. `other`: neither. */
type Beginning = 'records' | 'json' | 'other';

/** Finds the first bytes of an answer that count, at any split. */
class FirstBytes {
  /** Bytes of a byte order mark so far; `undefined` once others came. */
  #marked: number | undefined = 0;
  #inComment = false;
  /** The name of a field so far. */
  #name = '';
  /** Whether a mark or a comment came before. */
  hasMore = false;

  /** The beginning of the answer, and its position in these bytes; `undefined` while it isn't known. */
  take(chunk: Uint8Array): { readonly at: number; readonly begins: Beginning | undefined } {
    for (let at = 0; at < chunk.length; at += 1) {
      const begins = this.#read(chunk[at] ?? 0);
      if (begins) return { at, begins };
    }
    return { at: chunk.length, begins: undefined };
  }

  /** Length of the partial mark at the beginning of an answer's first bytes. */
  markIn(chunk: Uint8Array): number {
    return mark.every((byte, at) => chunk[at] === byte) ? mark.length : 0;
  }

  #read(byte: number): Beginning | undefined {
    if (this.#marked !== undefined) {
      if (byte === mark[this.#marked]) {
        this.#marked += 1;
        return undefined;
      }
      if (this.#marked > 0 && this.#marked < mark.length) return 'other';
      this.hasMore = this.#marked > 0;
      this.#marked = undefined;
    }
    if (this.#inComment) {
      this.#inComment = byte !== lineFeed && byte !== carriageReturn;
      return undefined;
    }
    if (this.#name === '') {
      if (isJsonSpace(byte)) return undefined;
      if (byte === openBrace || byte === openBracket) return 'json';
      if (byte === colon) {
        this.#inComment = true;
        this.hasMore = true;
        return undefined;
      }
    }
    this.#name += String.fromCharCode(byte);
    if (fields.includes(this.#name)) return 'records';
    return fields.some((field) => field.startsWith(this.#name)) ? undefined : 'other';
  }
}

const fields = ['data:', 'event:', 'id:', 'retry:'];

/** UTF-8's byte order mark. */
const mark = [0xef, 0xbb, 0xbf];

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
