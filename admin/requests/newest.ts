import type { HistoryFilter, HistorySearch } from '../../engine/features/history/files/search-history.ts';
import type { SharedHistory } from '../../engine/features/history/shared-history.ts';
import { maxSummaries } from '../../engine/features/record/record-lines.ts';
import type { KeptRequest } from '../../engine/features/record/schema.ts';
import { BoundedMap } from '../../engine/runtime/memoize.ts';

/** The requests that are kept on disk. */
export interface KeptParts {
  readonly search: HistorySearch;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Has all processes of the service write what has ended. */
  readonly write: () => Promise<void>;
  /** For how many days requests are kept; 0: none are. */
  readonly days: () => number;
}

/** Dependencies of what looks at the newest requests. */
export interface NewestParts {
  readonly history: KeptParts;
  /** Those in memory, which are all if none are kept on disk. */
  readonly requests: Pick<SharedHistory, 'list'>;
}

/** Requests, or what is needed of them, newest first. */
interface Newest<T> {
  readonly requests: readonly T[];
  /** There are older ones that fit. */
  readonly truncated: boolean;
}

/** Bytes that one question about the newest requests looks at. */
const maxNewestBytes = 64 << 20;

/** The newest requests that fit: of the disk, or of memory if none are kept there. */
export const findNewest = async (
  { history, requests }: NewestParts,
  filter: HistoryFilter,
  limit: number,
): Promise<Newest<KeptRequest>> => {
  if (history.days() > 0) {
    await history.write();
    const found = await history.search.find(filter, { limit, maxBytes: maxNewestBytes });
    return { requests: found.requests, truncated: found.next !== undefined };
  }
  const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER, matches } = filter;
  const recent = (await requests.list(0, maxSummaries)).requests.map((request) => ({
    endedAt: Math.round(request.startedAt + request.durationMs),
    ...request,
  }));
  const fitting = recent.filter((one) => one.endedAt >= fromMs && one.endedAt <= toMs && matches(one));
  return { requests: fitting, truncated: recent.length === maxSummaries };
};

/** What is needed of a request. */
interface Part<T> {
  readonly endedAtMs: number;
  readonly part: T;
}

/** The parts of one question. */
interface Known<T> {
  /** Newest first. */
  readonly parts: readonly Part<T>[];
  /** All that ended before is in it, in milliseconds since 1970. */
  readonly untilMs: number;
  readonly truncated: boolean;
  /** `removals` of the search when they were read. */
  readonly removals: number;
}

/** Questions that are kept, each with as many parts as it asks for. */
const maxQuestions = 4;

/** Clocks of the processes of a service differ by less, in milliseconds. */
const slackMs = 2_000;

/**
 * What questions need of the newest requests. Pages ask the same ones every few seconds: what was read is kept for all of them, and only
 * what has ended since is read.
 */
export class NewestRequests<T> {
  readonly #parts: NewestParts;
  readonly #limit: number;
  readonly #partOf: (request: KeptRequest) => T;
  readonly #known = new BoundedMap<string, Known<T>>(maxQuestions);
  #running: Promise<unknown> = Promise.resolve();

  /** `limit`: how many requests are looked at. */
  constructor(parts: NewestParts, limit: number, partOf: (request: KeptRequest) => T) {
    this.#parts = parts;
    this.#limit = limit;
    this.#partOf = partOf;
  }

  /** `question`: what the filter was made of. Its times may go on, but not back. One question waits for the one before. */
  ask(question: string, filter: HistoryFilter): Promise<Newest<T>> {
    const answer = this.#running.then(() => this.#ask(question, filter));
    this.#running = answer.catch(() => undefined);
    return answer;
  }

  async #ask(question: string, filter: HistoryFilter): Promise<Newest<T>> {
    const { days, nowMs, search } = this.#parts.history;
    const { fromMs = 0, toMs = Number.MAX_SAFE_INTEGER } = filter;
    const untilMs = Math.min(nowMs(), toMs);
    const known = days() > 0 ? this.#known.get(question) : undefined;
    const next =
      (known && (await this.#goOn(known, filter, Math.max(fromMs, Math.min(known.untilMs, untilMs) - slackMs)))) ??
      (await this.#find(filter));
    if (days() > 0) this.#known.set(question, { ...next, untilMs, removals: search.removals });
    return { requests: next.parts.map(({ part }) => part), truncated: next.truncated };
  }

  /** Adds what has ended since; `undefined`: what is known is of no use any more. */
  async #goOn(known: Known<T>, filter: HistoryFilter, sinceMs: number): Promise<Found<T> | undefined> {
    const { fromMs = 0 } = filter;
    const fresh = await this.#find({ ...filter, fromMs: sinceMs });
    if (fresh.truncated || this.#parts.history.search.removals !== known.removals) return undefined;
    const before = known.parts.filter(({ endedAtMs }) => endedAtMs < sinceMs);
    const kept = before.filter(({ endedAtMs }) => endedAtMs >= fromMs);
    const parts = [...fresh.parts, ...kept];
    return {
      parts: parts.slice(0, this.#limit),
      // Once some are too old, all of the time that is asked for is known.
      truncated: parts.length > this.#limit || (known.truncated && kept.length === before.length),
    };
  }

  async #find(filter: HistoryFilter): Promise<Found<T>> {
    const { requests, truncated } = await findNewest(this.#parts, filter, this.#limit);
    return { parts: requests.map((one) => ({ endedAtMs: one.endedAt, part: this.#partOf(one) })), truncated };
  }
}

type Found<T> = Pick<Known<T>, 'parts' | 'truncated'>;
