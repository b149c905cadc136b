import type { Classed } from './shapes.ts';
import type { SumsCell, SumsQuery } from './usage-cells.ts';

/** Classes of a figure: indexes of `classBounds`, both included. */
export interface ClassSpan {
  readonly first: number;
  readonly last: number;
}

/** Which requests are wanted; absent members don't restrict. */
export interface RequestFilter extends Readonly<Partial<Record<Classed, ClassSpan | undefined>>> {
  /** The times at which requests ended, in milliseconds since 1970, both included. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The model asked for or used, or `provider,model`. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly client?: string | undefined;
  readonly scenario?: string | undefined;
  readonly preset?: string | undefined;
  /** `ok`, `failed`, a status, or its first digit as `5xx`. */
  readonly status?: string | undefined;
  /** Those with a dropped or approximated field. */
  readonly lossy?: boolean | undefined;
  readonly session?: string | undefined;
  /** A part of an id, name, path, reason or fault, in any case. */
  readonly text?: string | undefined;
}

/** What pages are sorted by: the highest first. Requests without a first byte or cost aren't in pages sorted by it. */
export const sorts = ['time', 'duration', 'firstByte', 'cost', 'tokens'] as const;
export type Sort = (typeof sorts)[number];

interface PageQuery {
  readonly filter: RequestFilter;
  readonly sort: Sort;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly before?: string | undefined;
}

/** Requests as lines, each a `KeptRequest`. */
interface Page {
  readonly lines: readonly string[];
  /** Where the next page begins; `undefined`: there is none. */
  readonly next: string | undefined;
}

/** How much is kept; without times if nothing is. */
interface Extent {
  readonly requests: number;
  readonly bytes: number;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** What requests are counted by. */
export const facetNames = ['model', 'provider', 'client', 'scenario', 'preset', 'status', 'session'] as const;
export type FacetName = (typeof facetNames)[number] | Classed;

/** Requests of one value, or of one class, whose value is its lower end. */
interface FacetValue {
  readonly value: string;
  readonly requests: number;
}

/** Counts by each facet, of the requests that pass all filters but its own. The most frequent first, classes in order. */
interface Facets {
  /** Those that pass all filters. */
  readonly requests: number;
  readonly failed: number;
  readonly lossy: number;
  readonly facets: Readonly<Record<FacetName, readonly FacetValue[]>>;
}

/** Requests that ended in one span of time. */
interface Bar {
  readonly fromMs: number;
  readonly requests: number;
  readonly failed: number;
  /** 95 % of them took no longer, in milliseconds; `undefined`: there are none. */
  readonly p95Ms: number | undefined;
}

interface Histogram {
  readonly barMs: number;
  readonly bars: readonly Bar[];
}

/** Failed requests with one message. */
interface FailureGroup {
  /** The fault's kind and message; empty: the answer had a status alone. */
  readonly message: string;
  readonly requests: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly statuses: readonly number[];
  /** `provider,model`. */
  readonly models: readonly string[];
}

/** What requests of one client to one model came to. */
interface ClientModelSum {
  readonly client: string;
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly failed: number;
  readonly tokens: number;
  /** Billionths of a USD, as far as it is known. */
  readonly cost: number;
}

interface SessionsQuery {
  readonly filter: RequestFilter;
  /** Only those of so many requests. */
  readonly least: number;
  /** Only those with a failed request. */
  readonly failed: boolean;
  /** A part of an id, client, model or tool, in any case. */
  readonly text: string;
  /** Sessions that match the text otherwise. */
  readonly titled: readonly string[];
  readonly limit: number;
  readonly before?: string | undefined;
}

/** The figures of a request that its session's sums need. */
export interface SessionPart {
  readonly session: string;
  readonly client: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
  readonly durationMs: number;
  readonly usage: Readonly<Record<'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning', number>> | undefined;
  readonly cost: number | undefined;
  readonly tools: readonly string[];
  readonly turns: number;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly scenario: string | undefined;
}

interface Sessions {
  /** The newest first. */
  readonly ids: readonly string[];
  /** Their requests, in no order: of each session the newest `sessionRequests`. */
  readonly parts: readonly SessionPart[];
  /** How many have one request alone, of all that pass the other filters. */
  readonly single: number;
  /** A session has more requests. */
  readonly truncated: boolean;
  readonly next: string | undefined;
}

/** What can be asked about the requests that are kept, with the answers. */
export interface Questions {
  readonly page: { readonly query: PageQuery; readonly answer: Page };
  /** The newest request with an id; `endedAtMs`: that ended then. */
  readonly find: {
    readonly query: { readonly id: string; readonly endedAtMs?: number | undefined };
    readonly answer: string | undefined;
  };
  readonly extent: { readonly query: null; readonly answer: Extent };
  readonly facets: { readonly query: RequestFilter; readonly answer: Facets };
  /** `bars`: how many at most. Without times, from the first request to the last. */
  readonly histogram: {
    readonly query: { readonly filter: RequestFilter; readonly bars: number };
    readonly answer: Histogram;
  };
  readonly failures: {
    readonly query: { readonly filter: RequestFilter; readonly limit: number };
    readonly answer: readonly FailureGroup[];
  };
  readonly clientModels: { readonly query: RequestFilter; readonly answer: readonly ClientModelSum[] };
  readonly sessions: { readonly query: SessionsQuery; readonly answer: Sessions };
  /** Sums over time, also of requests that aren't kept. */
  readonly usage: { readonly query: SumsQuery; readonly answer: readonly SumsCell[] };
}

export type Answers = {
  readonly [Name in keyof Questions]: (query: Questions[Name]['query']) => Questions[Name]['answer'];
};

/** Asks the store; what has ended is handed over before, unless it `isWritten`. Rejects with an `unavailable` fault if it can't be read. */
export type AskStore = <Name extends keyof Questions>(
  name: Name,
  query: Questions[Name]['query'],
  isWritten?: boolean,
) => Promise<Questions[Name]['answer']>;
