import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { Config } from '../config/config.ts';
import type { Grammar, Violation } from '../model/grammar.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { bufferOf, lengthOf, readSseRecords } from '../model/wire/sse.ts';
import type { AnswerChunk, SseRecord } from '../model/wire/sse-record.ts';
import type { RequestListener } from '../observe/listener.ts';
import { MemoryBudget, type MemoryReservation } from '../runtime/memory-budget.ts';
import { joinBytes } from './rx/stages.ts';

/** Maximum buffered bytes of one answer, an incomplete record or a whole reply, and of all answers of a process together. */
const maxBufferedBytes = 1_048_576;
const maxAllBufferedBytes = 16_777_216;

/** The upstream of the answer, and the callback for violations. */
interface Watched {
  readonly plan: { readonly upstream: { readonly grammar: Grammar } };
  readonly listener: Pick<RequestListener, 'violated'>;
}

/** Looks at the bytes of an answer. */
type WatchGrammar = (of: Watched, streamed: boolean) => MonoTypeOperatorFunction<AnswerChunk>;

/**
 * Reports what breaks the rules of a provider's wire format, relayed or converted. Looks at each chunk after it has gone on, so it neither
 * changes an answer nor delays it, and gives an answer up that would need more memory. `undefined`: `GRAMMAR` is off.
 */
export const watchGrammar = ({ grammar }: Pick<Config, 'grammar'>): WatchGrammar | undefined =>
  grammar === 'off' ? undefined : (of, streamed) => watched(() => (streamed ? new Stream(of) : new Whole(of)));

const budget = new MemoryBudget();

/** The check of one answer. */
interface Look {
  /** Takes the next part; whether it goes on. */
  readonly take: (chunk: AnswerChunk) => boolean;
  /** The answer has ended normally. */
  readonly end: () => void;
  readonly release: () => void;
}

const watched =
  (begin: () => Look): MonoTypeOperatorFunction<AnswerChunk> =>
  (source) =>
    new Observable((subscriber) => {
      let look: Look | undefined = begin();
      let isPassing = false;
      const leave = (): void => {
        look?.release();
        look = undefined;
      };
      subscriber.add(() => {
        // The last chunk is looked at, though the answer's end was in it.
        if (!isPassing) leave();
      });
      subscriber.add(
        source.subscribe({
          next(chunk) {
            isPassing = true;
            subscriber.next(chunk);
            isPassing = false;
            if (!tried(() => look?.take(chunk) ?? false) || subscriber.closed) leave();
          },
          error(error: unknown) {
            subscriber.error(error);
            leave();
          },
          complete() {
            isPassing = true;
            subscriber.complete();
            tried(() => look?.end());
            leave();
          },
        }),
      );
    });

/** A failure here must not reach the answer: the check ends. */
const tried = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

class Stream implements Look {
  readonly #of: Watched;
  readonly #reservation: MemoryReservation = budget.reserve(maxAllBufferedBytes);
  readonly #records;
  readonly #grammar;

  constructor(of: Watched) {
    this.#of = of;
    this.#records = readSseRecords.start(undefined);
    this.#grammar = of.plan.upstream.grammar.stream.start(undefined);
  }

  take(chunk: AnswerChunk): boolean {
    if (!reserve(this.#reservation, chunk)) return false;
    const records: SseRecord[] = [];
    this.#records.step(chunk, records);
    // At most this chunk is left, as the beginning of the next record.
    if (records.length > 0) this.#reservation.set(lengthOf(chunk));
    this.#judge(records);
    return true;
  }

  end(): void {
    const records: SseRecord[] = [];
    this.#records.end(records);
    this.#judge(records);
    const found: Violation[] = [];
    this.#grammar.end(found);
    report(this.#of, found, '');
  }

  release(): void {
    this.#reservation.release();
  }

  #judge(records: readonly SseRecord[]): void {
    for (const record of records) {
      const found: Violation[] = [];
      this.#grammar.step(record, found);
      report(this.#of, found, record.data);
    }
  }
}

class Whole implements Look {
  readonly #of: Watched;
  readonly #reservation: MemoryReservation = budget.reserve(maxAllBufferedBytes);
  readonly #chunks: AnswerChunk[] = [];

  constructor(of: Watched) {
    this.#of = of;
  }

  take(chunk: AnswerChunk): boolean {
    if (!reserve(this.#reservation, chunk)) return false;
    this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    const text = bufferOf(joinBytes(this.#chunks)).toString();
    const reply = parseJson(text) ?? null;
    const [only, ...others] = Array.isArray(reply) ? reply : [];
    const isListed = isJsonObject(only) && others.length === 0;
    report(this.#of, this.#of.plan.upstream.grammar.reply(isListed ? only : reply), text);
  }

  release(): void {
    this.#reservation.release();
  }
}

const reserve = (reservation: MemoryReservation, chunk: AnswerChunk): boolean =>
  reservation.bytes + lengthOf(chunk) <= maxBufferedBytes && reservation.take(lengthOf(chunk)) === undefined;

const report = ({ listener }: Watched, violations: readonly Violation[], text: string): void => {
  for (const violation of violations) listener.violated?.(violation, text);
};
