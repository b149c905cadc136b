import type { ClientLimits } from '../config/schema.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { SlidingWindow } from './sliding-window.ts';

/**
 * Decides whether a client's request fits its limits. It decides at once, from what this process has counted, so
 * an implementation that takes blocks of a shared limit ahead of need can replace it.
 */
export interface Limiter {
  /** Takes what a request needs from all limits of its client, or nothing if one of them doesn't allow it. */
  readonly take: (client: string, limits: ClientLimits, need: LimitNeed) => LimitGrant | LimitRefusal;
  /** The limits of a client per minute, and what is left of them. */
  readonly rates: (client: string, limits: ClientLimits) => readonly RateLimit[];
  /** Answers of a client in progress. */
  readonly streams: (client: string) => number;
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
  /** What the limit allows in this process. */
  readonly most: number;
}

/** The part of each limit that this process grants: `index` of `of` processes. */
export interface LimitShare {
  readonly index: number;
  readonly of: number;
}

/** Options of `createLimiter`. */
interface LimiterOptions {
  /** A clock that never goes back, in milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly share: () => LimitShare;
}

/** How long to wait for the end of another answer, in milliseconds; when it ends is unknown. */
const streamWaitMs = 1_000;

/** Clients remembered. A configuration has at most half as many, but it may change without end. */
const maxClients = 2_000;

/** Creates a limiter that grants this process's share of each limit. */
export const createLimiter = ({ nowMs, share }: LimiterOptions): Limiter => {
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
  return {
    take(client, limits, need) {
      const counts = countsOf(client);
      const now = nowMs();
      const refusal = counts.refusal(sharedLimits(limits, share()), need, now);
      if (refusal) return refusal;
      const { requests, tokens } = counts;
      requests.add(1, now);
      const reserved = need.input + need.output;
      const second = tokens.add(reserved, now);
      if (need.answers) counts.streams += 1;
      return {
        type: 'grant',
        settle(used) {
          if (need.answers) counts.streams -= 1;
          tokens.correct(second, used - reserved, nowMs());
        },
      };
    },
    rates(client, limits) {
      const { requestsPerMinute, tokensPerMinute } = limits;
      const shared = sharedLimits(limits, share());
      const { requests, tokens } = countsOf(client);
      const now = nowMs();
      const rate = (of: RateLimit['of'], limit: number, most: number, window: SlidingWindow): RateLimit => {
        const resetMs = window.waitMs(0, now);
        const remaining = Math.max(0, most - window.sumAt(now));
        return { of, limit, remaining, resetMs, resetAtMs: now + resetMs };
      };
      return [
        ...(requestsPerMinute === undefined
          ? []
          : [rate('requests', requestsPerMinute, shared.requestsPerMinute ?? 0, requests)]),
        ...(tokensPerMinute === undefined
          ? []
          : [rate('tokens', tokensPerMinute, shared.tokensPerMinute ?? 0, tokens)]),
      ];
    },
    streams: (client) => known.get(client)?.streams ?? 0,
  };
};

/** What is counted of one client. */
class ClientCounts {
  readonly requests = new SlidingWindow();
  readonly tokens = new SlidingWindow();
  streams = 0;

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
    if (streams !== undefined && answers) wait('streams', streams, this.streams < streams ? 0 : streamWaitMs);
    if (requestsPerMinute !== undefined) {
      const fits = requestsPerMinute > 0;
      wait(
        'requestsPerMinute',
        requestsPerMinute,
        fits ? this.requests.waitMs(requestsPerMinute - 1, nowMs) : streamWaitMs,
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

/** The limits of this process: equal parts, of which the first ones get what is left over. */
const sharedLimits = (limits: ClientLimits, { index, of }: LimitShare): ClientLimits => {
  if (of === 1) return limits;
  const part = (limit: number): number => Math.floor(limit / of) + (index < limit % of ? 1 : 0);
  const { requestsPerMinute, tokensPerMinute, streams } = limits;
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute: part(requestsPerMinute) }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute: part(tokensPerMinute) }),
    ...(streams !== undefined && { streams: part(streams) }),
  };
};
