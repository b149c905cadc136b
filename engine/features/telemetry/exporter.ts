import {
  catchError,
  concat,
  EMPTY,
  finalize,
  map,
  type Observable,
  of,
  switchMap,
  takeWhile,
  tap,
  toArray,
} from 'rxjs';
import { FaultError } from '../../model/fault.ts';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import { Backpressure } from '../../runtime/backpressure.ts';
import type { UpstreamAnswer, Upstreams } from '../../upstream/upstreams.ts';

/** Timers and chance; a test's own wait for nothing. */
export interface ExporterClock {
  /** Monotonic, in milliseconds. */
  readonly nowMs: () => number;
  /** Calls `task` after so many milliseconds; the result cancels it. */
  readonly later: (task: () => void, ms: number) => () => void;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** The outcome of a body. */
export type Delivery =
  | { readonly type: 'sent'; readonly rejected: number }
  | { readonly type: 'failed'; readonly problem: string };

interface ExporterOptions {
  readonly upstreams: Pick<Upstreams, 'call'>;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: ExporterClock;
  /** The member of the answer's `partialSuccess` that counts what the collector refused. */
  readonly rejectedCount: string;
}

/** Most attempts for one body, and the time that each may take, in milliseconds. */
const maxTries = 5;
const tryMs = 10_000;
/** The first wait between them doubles up to the longest, unless the collector asks for another. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;
const longestAskedMs = 120_000;
/** The part of a collector's answer that is read. */
const maxAnswerBytes = 65_536;
/** Source: OTLP specification 1.x, "OTLP/HTTP", "Retryable Response Codes". */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Posts one body at a time to a collector, and tries again where that may help. */
export class Exporter {
  readonly #options: ExporterOptions;
  /** Ends the attempt or the wait in progress. */
  #giveUp: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /** Resolves when the body is delivered, refused for good, or given up; never rejects. */
  async send(body: string): Promise<Delivery> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(body);
      if (outcome.type !== 'again') return outcome;
      const isLast = tries >= maxTries || this.#isClosed;
      if (!isLast) await this.#wait(outcome.askedMs ?? this.#waitMs(tries));
      if (isLast || this.#isClosed) return { type: 'failed', problem: outcome.problem };
    }
  }

  /** Ends what is in progress; later bodies fail. */
  close(): void {
    this.#isClosed = true;
    this.#giveUp?.();
  }

  #waitMs(tries: number): number {
    const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1));
    return wait * (0.5 + this.#options.clock.random() / 2);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.later(() => done(), ms);
      const done = (): void => {
        cancel();
        this.#giveUp = undefined;
        resolve();
      };
      this.#giveUp = done;
    });
  }

  #try(body: string): Promise<Outcome> {
    if (this.#isClosed) return Promise.resolve({ type: 'failed', problem: 'the service stops' });
    const { upstreams, url, headers, clock } = this.#options;
    return new Promise((resolve) => {
      let outcome: Outcome = { type: 'again', problem: 'the collector takes too long', askedMs: undefined };
      const cancel = clock.later(() => calling.unsubscribe(), tryMs);
      const calling = upstreams
        .call({
          url,
          headers: { 'content-type': 'application/json', 'user-agent': 'junctor', ...headers },
          body,
          backpressure: new Backpressure(),
        })
        .pipe(
          switchMap((answer) => this.#read(answer)),
          catchError((error: unknown) => of(problemOf(error))),
          tap((read) => {
            outcome = read;
          }),
          finalize(() => {
            cancel();
            this.#giveUp = undefined;
            resolve(outcome);
          }),
        )
        .subscribe();
      if (!calling.closed) this.#giveUp = () => calling.unsubscribe();
    });
  }

  /** The head alone decides whether the body was taken: an endless or broken rest changes nothing. */
  #read({ status, headers, body }: UpstreamAnswer): Observable<Outcome> {
    const outcome = outcomeOf(status, headers['retry-after']);
    let bytes = 0;
    const rest = body.pipe(
      takeWhile((chunk) => {
        bytes += chunk.length;
        return bytes <= maxAnswerBytes;
      }),
      toArray(),
      map((chunks) =>
        outcome.type === 'sent'
          ? { ...outcome, rejected: this.#rejected(new TextDecoder().decode(Buffer.concat(chunks))) }
          : outcome,
      ),
      catchError(() => EMPTY),
    );
    return concat(of(outcome), rest);
  }

  /** Number of items that the collector refused; 0 for an answer that can't be read. */
  #rejected(answer: string): number {
    const reply = parseJson(answer);
    const partial = isJsonObject(reply) ? reply.partialSuccess : undefined;
    const count = isJsonObject(partial) ? Number(partial[this.#options.rejectedCount]) : 0;
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  }
}

type Outcome = Delivery | { readonly type: 'again'; readonly problem: string; readonly askedMs: number | undefined };

const outcomeOf = (status: number, retryAfter: string | undefined): Outcome => {
  if (status >= 200 && status < 300) return { type: 'sent', rejected: 0 };
  const problem = `the collector answers with status ${status}`;
  return retryable.has(status) ? { type: 'again', problem, askedMs: askedMs(retryAfter) } : { type: 'failed', problem };
};

const problemOf = (error: unknown): Outcome => ({
  type: 'again',
  problem: error instanceof FaultError ? error.fault.message : 'the collector cannot be reached',
  askedMs: undefined,
});

/** Milliseconds that `Retry-After` asks for in seconds, within bounds. A date isn't read. */
const askedMs = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,9}$/.test(value) ? Math.min(longestAskedMs, Number(value) * 1_000) : undefined;
