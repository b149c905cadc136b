import type { ClientLimits } from '../../config/schema.ts';
import type { Admission, WindowLimit, WindowUse } from '../../hub/window-lease.ts';
import type { RateLimit } from '../../model/rate-limit.ts';
import { SlidingWindow } from './sliding-window.ts';

/** Decides whether a client's request fits its limits. */
export interface Limiter {
  /**
   * Takes what a request needs from all limits of its client, or nothing if one of them doesn't allow it. It waits only for other
   * processes that use the same limits, and only where this one has nothing of them at hand.
   */
  readonly take: (
    client: string,
    limits: ClientLimits,
    need: LimitNeed,
  ) => LimitGrant | LimitRefusal | Promise<LimitGrant | LimitRefusal>;
  /** The limits of a client per minute, and what is left of them. */
  readonly rates: (client: string, limits: ClientLimits) => readonly RateLimit[];
  /** How many answers at a time a client has left of so many. */
  readonly streamsLeft: (client: string, most: number) => number;
}

/** Limits that several processes use together. */
interface SharedLimits {
  readonly isShared: boolean;
  /** Takes `count` of so many per window; `undefined`: they aren't left. */
  readonly admit: (
    id: string,
    limit: WindowLimit,
    count?: number,
  ) => Admission | undefined | Promise<Admission | undefined>;
  /** Takes `by` more than were admitted, or gives them back. */
  readonly correct: (id: string, limit: WindowLimit, admission: Admission, by: number) => void;
  /** What all processes have used, as far as is known here. */
  readonly usage: (id: string, limit: WindowLimit) => WindowUse | undefined;
  /** Takes one of so many at a time, until its release. */
  readonly acquire: (id: string, max: number) => boolean | Promise<boolean>;
  readonly release: (id: string) => void;
  readonly unused: (id: string) => number | undefined;
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
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Absent without other processes. */
  readonly shared?: SharedLimits | undefined;
}

/** How long to wait for the end of another answer or a word of other processes, in milliseconds; when that comes is unknown. */
const unknownWaitMs = 1_000;

/** Clients remembered. A configuration has at most half as many, but it may change without end. */
const maxClients = 2_000;

const windowMs = 60_000;

const requestsId = (client: string): string => `limit:requests:${client}`;
const tokensId = (client: string): string => `limit:tokens:${client}`;
const streamsId = (client: string): string => `limit:streams:${client}`;

/** Creates a limiter. Its limits are those of all processes together. */
export const createLimiter = ({ nowMs, shared }: LimiterOptions): Limiter => {
  const known = new Map<string, ClientCounts>();
  const countsOf = (client: string): ClientCounts => {
    const found = known.get(client);
    if (found) return found;
    const [oldest] = known.keys();
    if (known.size >= maxClients && oldest !== undefined) known.delete(oldest);
    const counts = new ClientCounts();
    known.set(client, counts);
    return counts;
  };
  /** Takes what the processes use together; `grant` is of this one's own counts. */
  const takeShared = (
    together: SharedLimits,
    client: string,
    { requestsPerMinute, tokensPerMinute, streams }: ClientLimits,
    need: LimitNeed,
    grant: LimitGrant,
  ): ReturnType<Limiter['take']> => {
    /** What was taken already, to be given back, or ended with the tokens that were used. */
    const settled: ((usedTokens: number) => void)[] = [grant.settle];
    const settle = (usedTokens: number): void => {
      for (const end of settled) end(usedTokens);
    };
    const refuse = (limit: keyof ClientLimits, waitMs: number, most: number): LimitRefusal => {
      settle(0);
      return { type: 'refusal', limit, waitMs, most };
    };
    const afterTokens = (
      limit: WindowLimit,
      count: number,
      admission: Admission | undefined,
    ): LimitGrant | LimitRefusal => {
      const id = tokensId(client);
      if (!admission) {
        const waitMs = together.usage(id, limit)?.waitMs(limit.max - count) || unknownWaitMs;
        return refuse('tokensPerMinute', waitMs, limit.max);
      }
      settled.push((used) => together.correct(id, limit, admission, used - count));
      return { type: 'grant', settle };
    };
    const takeTokens = (): ReturnType<Limiter['take']> => {
      if (tokensPerMinute === undefined) return { type: 'grant', settle };
      const limit = { max: tokensPerMinute, windowMs };
      const count = Math.min(need.input + need.output, tokensPerMinute);
      return then(together.admit(tokensId(client), limit, count), (admission) => afterTokens(limit, count, admission));
    };
    const takeRequest = (): ReturnType<Limiter['take']> => {
      if (requestsPerMinute === undefined) return takeTokens();
      const limit = { max: requestsPerMinute, windowMs };
      const id = requestsId(client);
      return then(together.admit(id, limit), (admission) => {
        if (!admission) {
          const waitMs = together.usage(id, limit)?.waitMs(limit.max - 1) || unknownWaitMs;
          return refuse('requestsPerMinute', waitMs, limit.max);
        }
        return then(takeTokens(), (taken) => {
          if (taken.type === 'refusal') together.correct(id, limit, admission, -1);
          return taken;
        });
      });
    };
    if (!need.answers || streams === undefined) return takeRequest();
    return then(together.acquire(streamsId(client), streams), (isHeld) => {
      if (!isHeld) return refuse('streams', unknownWaitMs, streams);
      settled.push(() => together.release(streamsId(client)));
      return takeRequest();
    });
  };
  return {
    take(client, limits, need) {
      const counts = countsOf(client);
      const now = nowMs();
      const together = shared?.isShared ? shared : undefined;
      const refusal = together ? neverFits(limits, need) : counts.refusal(limits, need, now);
      if (refusal) return refusal;
      const grant = counts.take(need, now, nowMs);
      return together ? takeShared(together, client, limits, need, grant) : grant;
    },
    rates(client, limits) {
      const { requestsPerMinute, tokensPerMinute } = limits;
      const together = shared?.isShared ? shared : undefined;
      const { requests, tokens } = countsOf(client);
      const now = nowMs();
      const rate = (of: RateLimit['of'], limit: number, { used, waitMs }: WindowUse): RateLimit => {
        const resetMs = waitMs(0);
        return { of, limit, remaining: Math.max(0, limit - used), resetMs, resetAtMs: now + resetMs };
      };
      const own = (window: SlidingWindow): WindowUse => ({
        used: window.sumAt(now),
        waitMs: (most) => window.waitMs(most, now),
      });
      const usageOf = (id: string, max: number, window: SlidingWindow): WindowUse =>
        together ? (together.usage(id, { max, windowMs }) ?? nothingUsed) : own(window);
      return [
        ...(requestsPerMinute === undefined
          ? []
          : [rate('requests', requestsPerMinute, usageOf(requestsId(client), requestsPerMinute, requests))]),
        ...(tokensPerMinute === undefined
          ? []
          : [rate('tokens', tokensPerMinute, usageOf(tokensId(client), tokensPerMinute, tokens))]),
      ];
    },
    streamsLeft(client, most) {
      const left = shared?.isShared ? shared.unused(streamsId(client)) : undefined;
      return left ?? Math.max(0, most - (known.get(client)?.streams ?? 0));
    },
  };
};

const nothingUsed: WindowUse = { used: 0, waitMs: () => 0 };

/** Goes on with a value that is there at once or later. */
const then = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** The limit that a prompt is too large for by itself. */
const neverFits = ({ tokensPerMinute }: ClientLimits, { input }: LimitNeed): LimitRefusal | undefined =>
  tokensPerMinute === undefined || input <= tokensPerMinute
    ? undefined
    : { type: 'refusal', limit: 'tokensPerMinute', waitMs: undefined, most: tokensPerMinute };

/** What is counted of one client. */
class ClientCounts {
  readonly requests = new SlidingWindow();
  readonly tokens = new SlidingWindow();
  streams = 0;

  take({ input, output, answers }: LimitNeed, now: number, nowMs: () => number): LimitGrant {
    this.requests.add(1, now);
    const reserved = input + output;
    const second = this.tokens.add(reserved, now);
    if (answers) this.streams += 1;
    return {
      type: 'grant',
      settle: (used) => {
        if (answers) this.streams -= 1;
        this.tokens.correct(second, used - reserved, nowMs());
      },
    };
  }

  /** The limit that a request has to wait for longest; `undefined`: it fits all of them. */
  refusal(
    { requestsPerMinute, tokensPerMinute, streams }: ClientLimits,
    { input, output, answers }: LimitNeed,
    nowMs: number,
  ): LimitRefusal | undefined {
    let worst: LimitRefusal | undefined;
    const wait = (limit: keyof ClientLimits, most: number, waitMs: number | undefined): void => {
      if (waitMs === 0) return;
      if (!worst || (waitMs ?? Number.POSITIVE_INFINITY) > (worst.waitMs ?? Number.POSITIVE_INFINITY)) {
        worst = { type: 'refusal', limit, waitMs, most };
      }
    };
    if (streams !== undefined && answers) wait('streams', streams, this.streams < streams ? 0 : unknownWaitMs);
    if (requestsPerMinute !== undefined) {
      const fits = requestsPerMinute > 0;
      wait(
        'requestsPerMinute',
        requestsPerMinute,
        fits ? this.requests.waitMs(requestsPerMinute - 1, nowMs) : unknownWaitMs,
      );
    }
    if (tokensPerMinute !== undefined) {
      const fits = input <= tokensPerMinute;
      const room = Math.max(0, tokensPerMinute - input - output);
      wait('tokensPerMinute', tokensPerMinute, fits ? this.tokens.waitMs(room, nowMs) : undefined);
    }
    return worst;
  }
}
