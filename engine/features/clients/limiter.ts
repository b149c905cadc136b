import type { ClientLimits } from '../../config/schema.ts';
import type { WindowUse } from '../../hub/window-lease.ts';
import type { RateLimit } from '../../model/rate-limit.ts';
import { type LimitCounts, LocalLimits } from './local-limits.ts';

/** Decides whether a client's request fits its limits. */
export interface Limiter {
  /**
   * Takes what a request needs from all limits of its client, or nothing if one of them doesn't allow it. It waits only for other
   * processes that use the same limits, and only where this one has none of them available.
   */
  readonly take: (
    client: string,
    limits: ClientLimits,
    need: LimitNeed,
  ) => LimitGrant | LimitRefusal | Promise<LimitGrant | LimitRefusal>;
  /** The limits of a client per minute, and what is left of them. */
  readonly rates: (client: string, limits: ClientLimits) => readonly RateLimit[];
  /** Remaining concurrent answers of a client, out of a maximum. */
  readonly streamsLeft: (client: string, most: number) => number;
}

/** Limits that several processes use together. */
interface SharedLimits extends LimitCounts {
  readonly isShared: boolean;
  /** How many of a limit at a time are free, as far as that is known here. */
  readonly unused: (id: string) => number | undefined;
  /** Calls `listener` when another process begins to share them. */
  readonly onShared: (listener: () => void) => void;
}

/** What a request needs. */
export interface LimitNeed {
  /** Tokens of the prompt, estimated. */
  readonly input: number;
  /** Tokens of the answer, as far as they are reserved. */
  readonly output: number;
  /** Whether it is answered by a model, and counts among the concurrent answers. */
  readonly answers: boolean;
}

/** What a request was granted. */
export interface LimitGrant {
  readonly type: 'grant';
  /** Ends the request: its reservation is replaced by the tokens that it used. Call once. */
  readonly settle: (usedTokens: number) => void;
}

/** The limit that doesn't allow a request. */
export interface LimitRefusal {
  readonly type: 'refusal';
  readonly limit: keyof ClientLimits;
  /** Milliseconds after which it may fit; `undefined`: it never fits. */
  readonly waitMs: number | undefined;
  /** What the limit allows. */
  readonly most: number;
}

/** Options of `createLimiter`. */
interface LimiterOptions {
  /** A monotonic clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Absent without other processes. */
  readonly shared?: SharedLimits | undefined;
}

/** How long to wait for the end of another answer or a word of other processes, in milliseconds; when that comes is unknown. */
const unknownWaitMs = 1_000;

const windowMs = 60_000;

const requestsId = (client: string): string => `limit:requests:${client}`;
const tokensId = (client: string): string => `limit:tokens:${client}`;
const streamsId = (client: string): string => `limit:streams:${client}`;

/** Creates a limiter. Its limits are those of all processes together. */
export const createLimiter = ({ nowMs, shared }: LimiterOptions): Limiter => {
  /** Counts also what is shared, for when it no longer is. */
  const own = new LocalLimits(nowMs);
  shared?.onShared(() => own.handOver(shared));
  const limitsNow = (): LimitCounts => (shared?.isShared ? shared : own);
  return {
    take: (client, limits, need) =>
      neverFits(limits, need) ?? new Taking(client, limits, need, limitsNow(), own).take(),
    rates(client, limits) {
      const using = limitsNow();
      return windowsOf(client, limits).map(({ of, id, limit }): RateLimit => {
        const { used, waitMs } = using.usage(id, limit) ?? nothingUsed;
        const resetMs = waitMs(0);
        return {
          of,
          limit: limit.max,
          remaining: Math.max(0, limit.max - used),
          resetMs,
          resetAtMs: nowMs() + resetMs,
        };
      });
    },
    streamsLeft(client, most) {
      const left = shared?.isShared ? shared.unused(streamsId(client)) : undefined;
      return left ?? Math.max(0, most - own.active(streamsId(client)));
    },
  };
};

/** The limits per minute that a client has. */
const windowsOf = (client: string, { requestsPerMinute, tokensPerMinute }: ClientLimits) => [
  ...(requestsPerMinute === undefined
    ? []
    : [{ of: 'requests', id: requestsId(client), limit: { max: requestsPerMinute, windowMs } } as const]),
  ...(tokensPerMinute === undefined
    ? []
    : [{ of: 'tokens', id: tokensId(client), limit: { max: tokensPerMinute, windowMs } } as const]),
];

const nothingUsed: WindowUse = { used: 0, waitMs: () => 0 };

/** Goes on with a value that is there at once or later. */
const then = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** The limit that a prompt is too large for by itself. */
const neverFits = ({ tokensPerMinute }: ClientLimits, { input }: LimitNeed): LimitRefusal | undefined =>
  tokensPerMinute === undefined || input <= tokensPerMinute
    ? undefined
    : { type: 'refusal', limit: 'tokensPerMinute', waitMs: undefined, most: tokensPerMinute };

type Taken = ReturnType<Limiter['take']>;

/** Takes what one request needs from all limits of its client, one after the other. */
class Taking {
  readonly #client: string;
  readonly #limits: ClientLimits;
  readonly #need: LimitNeed;
  readonly #using: LimitCounts;
  readonly #own: LocalLimits;
  /** Give back what was taken, should a later limit refuse. */
  readonly #undo: (() => void)[] = [];
  /** End the request. */
  readonly #ends: ((usedTokens: number) => void)[] = [];

  constructor(client: string, limits: ClientLimits, need: LimitNeed, using: LimitCounts, own: LocalLimits) {
    this.#client = client;
    this.#limits = limits;
    this.#need = need;
    this.#using = using;
    this.#own = own;
  }

  take(): Taken {
    const { streams } = this.#limits;
    const id = streamsId(this.#client);
    if (!this.#need.answers || streams === undefined) return this.#takeRequest();
    return then(this.#using.acquire(id, streams), (isHeld) => {
      if (!isHeld) return this.#refuse('streams', streams);
      const release = (): void => this.#using.release(id);
      this.#undo.push(release);
      this.#ends.push(release);
      return this.#takeRequest();
    });
  }

  #takeRequest(): Taken {
    const { requestsPerMinute } = this.#limits;
    if (requestsPerMinute === undefined) return this.#takeTokens();
    const limit = { max: requestsPerMinute, windowMs };
    const id = requestsId(this.#client);
    return then(this.#using.admit(id, limit, 1), (admission) => {
      if (!admission) return this.#refuse('requestsPerMinute', limit.max);
      this.#undo.push(() => this.#using.correct(id, limit, admission, -1));
      return this.#takeTokens();
    });
  }

  #takeTokens(): Taken {
    const { tokensPerMinute } = this.#limits;
    if (tokensPerMinute === undefined) return this.#grant();
    const limit = { max: tokensPerMinute, windowMs };
    const id = tokensId(this.#client);
    const count = this.#tokensNeeded(tokensPerMinute);
    return then(this.#using.admit(id, limit, count), (admission) => {
      if (!admission) return this.#refuse('tokensPerMinute', limit.max);
      this.#ends.push((used) => this.#using.correct(id, limit, admission, used - count));
      return this.#grant();
    });
  }

  #tokensNeeded(most: number): number {
    return Math.min(this.#need.input + this.#need.output, most);
  }

  #grant(): LimitGrant {
    this.#countOwn();
    const ends = this.#ends;
    return {
      type: 'grant',
      settle(usedTokens) {
        for (const end of ends) end(usedTokens);
      },
    };
  }

  /** Counts in this process what nothing has counted here: a limit may be set, or no longer be shared, while this counts. */
  #countOwn(): void {
    const { input, output, answers } = this.#need;
    const isOwn = this.#using === this.#own;
    const { requestsPerMinute, tokensPerMinute, streams } = this.#limits;
    const streamId = streamsId(this.#client);
    if (answers && !(isOwn && streams !== undefined)) {
      this.#own.addActive(streamId);
      this.#ends.push(() => this.#own.release(streamId));
    }
    if (!(isOwn && requestsPerMinute !== undefined)) this.#own.count(requestsId(this.#client), anyLimit, 1);
    if (isOwn && tokensPerMinute !== undefined) return;
    const reserved = input + output;
    const id = tokensId(this.#client);
    const counted = this.#own.count(id, anyLimit, reserved);
    this.#ends.push((used) => this.#own.correct(id, anyLimit, counted, used - reserved));
  }

  /** Gives all back. Of the limits that the request doesn't fit, as far as is known, names the one to wait for longest. */
  #refuse(limit: keyof ClientLimits, most: number): LimitRefusal {
    for (const undo of this.#undo) undo();
    const worst = this.#others(limit).toSorted((one, other) => (other.waitMs ?? 0) - (one.waitMs ?? 0))[0];
    const waitMs = limit === 'streams' ? unknownWaitMs : this.#waitOf(limit, most) || unknownWaitMs;
    return worst && (worst.waitMs ?? 0) > waitMs ? worst : { type: 'refusal', limit, waitMs, most };
  }

  #others(refused: keyof ClientLimits): readonly LimitRefusal[] {
    return (['requestsPerMinute', 'tokensPerMinute'] as const).flatMap((limit): LimitRefusal[] => {
      const most = this.#limits[limit];
      return limit === refused || most === undefined
        ? []
        : [{ type: 'refusal', limit, waitMs: this.#waitOf(limit, most), most }];
    });
  }

  /** Milliseconds until the request may fit a limit, as far as is known; 0: it may now. */
  #waitOf(limit: 'requestsPerMinute' | 'tokensPerMinute', most: number): number {
    const id = limit === 'requestsPerMinute' ? requestsId(this.#client) : tokensId(this.#client);
    const count = limit === 'requestsPerMinute' ? 1 : this.#tokensNeeded(most);
    // A limit of none is never met.
    if (most < count) return unknownWaitMs;
    return this.#using.usage(id, { max: most, windowMs })?.waitMs(most - count) ?? 0;
  }
}

/** For what is only counted. */
const anyLimit = { max: Number.MAX_SAFE_INTEGER, windowMs };
