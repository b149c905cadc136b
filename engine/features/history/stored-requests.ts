import { fail } from '../../model/fault.ts';
import type { Questions } from '../../store/questions.ts';
import { type StoreChannel, StoreProblem } from '../../store/store-thread.ts';
import { maxSummaries } from '../record/pending-lines.ts';
import type { HistoryWriter } from './flush-lines.ts';
import type { SharedHistory } from './shared-history.ts';

interface StoredOptions {
  readonly store: StoreChannel;
  /** For how many days requests are kept; 0: none are. */
  readonly days: () => number;
  /** Requests in memory: all of them if none are persisted. */
  readonly requests: Pick<SharedHistory, 'list'>;
  /** Makes all processes of the service flush ended requests. */
  readonly write: () => Promise<void>;
  readonly writer: Pick<HistoryWriter, 'check'>;
}

/** Answers questions about the requests that ended: of the store, or of memory if none are kept. */
export class StoredRequests {
  readonly #options: StoredOptions;

  constructor(options: StoredOptions) {
    this.#options = options;
  }

  get days(): number {
    return this.#options.days();
  }

  /** Rejects with an `unavailable` fault where the store can't be read. `isWritten`: what has ended needn't be handed over before. */
  async ask<Name extends keyof Questions>(
    name: Name,
    query: Questions[Name]['query'],
    isWritten = false,
  ): Promise<Questions[Name]['answer']> {
    const { write, writer } = this.#options;
    if (this.days === 0 && name !== 'usage') return this.#asked(name, query, await this.#recent());
    if (!isWritten) await write();
    try {
      return await this.#asked(name, query);
    } catch (error) {
      if (!(error instanceof StoreProblem && error.damaged)) return unavailable(error);
      await writer.check();
      return await this.#asked(name, query).catch(unavailable);
    }
  }

  #asked<Name extends keyof Questions>(
    name: Name,
    query: Questions[Name]['query'],
    lines?: string,
  ): Promise<Questions[Name]['answer']> {
    return this.#options.store.ask(name, query, lines);
  }

  async #recent(): Promise<string> {
    const { requests } = await this.#options.requests.list(0, maxSummaries);
    return requests
      .toReversed()
      .map(({ title: _, ...one }) => JSON.stringify({ endedAt: Math.round(one.startedAt + one.durationMs), ...one }))
      .map((line) => `${line}\n`)
      .join('');
  }
}

const unavailable = (error: unknown): never => {
  if (!(error instanceof StoreProblem)) throw error;
  return fail('unavailable', `The history of requests can't be read: ${error.message}`);
};
