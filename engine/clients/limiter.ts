import type { ClientLimits } from '../config/schema.ts';
import type { WindowLimit, WindowUse } from '../hub/window-lease.ts';
import type { RateLimit } from '../model/rate-limit.ts';
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
  /** Takes one of so many per window. */
  readonly admit: (id: string, limit: WindowLimit) => boolean | Promise<boolean>;
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

/** The part of the limit of tokens that this process grants: `index` of `of` processes. */
export interface LimitShare {
  readonly index: number;
  readonly of: number;
}

/** Options of `createLimiter`. */
interface LimiterOptions {
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly share: () => LimitShare;
  /** Absent without other processes. */
  readonly shared?: SharedLimits | undefined;
}

/** How long to wait for the end of another answer or a word of other processes, in milliseconds; when that comes is unknown. */
const unknownWaitMs = 1_000;

/** Clients remembered. A configuration has at most half as many, but it may change without end. */
const maxClients = 2_000;

const windowMs = 60_000;

const requestsId = (client: string): string => `limit:requests:${client}`;
const streamsId = (client: string): string => `limit:streams:${client}`;

/**
 * Creates a limiter. Requests per minute and answers at a time are exact over all processes; of the tokens per minute, each process
 * grants its share.
 */
export const createLimiter = ({ nowMs, share, shared }: LimiterOptions): Limiter => {
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
  /** Takes what the processes use together; the rest is taken from `counts` already. */
  const takeShared = (
    together: SharedLimits,
    client: string,
    { requestsPerMinute, streams }: ClientLimits,
    need: LimitNeed,
    grant: LimitGrant,
  ): ReturnType<Limiter['take']> => {
    const limit = requestsPerMinute === undefined ? undefined : { max: requestsPerMinute, windowMs };
    const holds = need.answers && streams !== undefined;
    const afterRequest = (isAdmitted: boolean): LimitGrant | LimitRefusal => {
      if (isAdmitted || limit === undefined)
        return holds ? releasing(grant, () => together.release(streamsId(client))) : grant;
      if (holds) together.release(streamsId(client));
      grant.settle(0);
      const waitMs = together.usage(requestsId(client), limit)?.waitMs(limit.max - 1) || unknownWaitMs;
      return { type: 'refusal', limit: 'requestsPerMinute', waitMs, most: limit.max };
    };
    const afterStream = (isHeld: boolean): ReturnType<Limiter['take']> => {
      if (!isHeld) {
        grant.settle(0);
        return { type: 'refusal', limit: 'streams', waitMs: unknownWaitMs, most: streams ?? 0 };
      }
      const admitted = limit === undefined || together.admit(requestsId(client), limit);
      return typeof admitted === 'boolean' ? afterRequest(admitted) : admitted.then(afterRequest);
    };
    const held = !holds || together.acquire(streamsId(client), streams);
    return typeof held === 'boolean' ? afterStream(held) : held.then(afterStream);
  };
  return {
    take(client, limits, need) {
      const counts = countsOf(client);
      const now = nowMs();
      const together = shared?.isShared ? shared : undefined;
      const refusal = counts.refusal(together ? tokensAlone(limits, share()) : limits, need, now);
      if (refusal) return refusal;
      const grant = counts.take(need, now, nowMs);
      return together ? takeShared(together, client, limits, need, grant) : grant;
    },
    rates(client, limits) {
      const { requestsPerMinute, tokensPerMinute } = limits;
      const together = shared?.isShared ? shared : undefined;
      const { requests, tokens } = countsOf(client);
      const now = nowMs();
      const rate = (of: RateLimit['of'], limit: number, most: number, { used, waitMs }: WindowUse): RateLimit => {
        const resetMs = waitMs(0);
        return { of, limit, remaining: Math.max(0, most - used), resetMs, resetAtMs: now + resetMs };
      };
      const own = (window: SlidingWindow): WindowUse => ({
        used: window.sumAt(now),
        waitMs: (most) => window.waitMs(most, now),
      });
      const ofRequests = (max: number): WindowUse =>
        together ? (together.usage(requestsId(client), { max, windowMs }) ?? nothingUsed) : own(requests);
      const { tokensPerMinute: tokensHere = 0 } = together ? tokensAlone(limits, share()) : limits;
      return [
        ...(requestsPerMinute === undefined
          ? []
          : [rate('requests', requestsPerMinute, requestsPerMinute, ofRequests(requestsPerMinute))]),
        ...(tokensPerMinute === undefined ? [] : [rate('tokens', tokensPerMinute, tokensHere, own(tokens))]),
      ];
    },
    streamsLeft(client, most) {
      const left = shared?.isShared ? shared.unused(streamsId(client)) : undefined;
      return left ?? Math.max(0, most - (known.get(client)?.streams ?? 0));
    },
  };
};

const nothingUsed: WindowUse = { used: 0, waitMs: () => 0 };

/** A grant that also gives a place back. */
const releasing = (grant: LimitGrant, release: () => void): LimitGrant => ({
  type: 'grant',
  settle(used) {
    release();
    grant.settle(used);
  },
});

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

/** The part of the limits that this process counts by itself: of the tokens, equal parts, of which the first get what is left over. */
const tokensAlone = ({ tokensPerMinute }: ClientLimits, { index, of }: LimitShare): ClientLimits =>
  tokensPerMinute === undefined
    ? {}
    : { tokensPerMinute: Math.floor(tokensPerMinute / of) + (index < tokensPerMinute % of ? 1 : 0) };
