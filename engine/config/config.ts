/** The five rules that can choose a destination for a bare model name, in the order in which they are tried. */
export const scenarios = ['longContext', 'image', 'webSearch', 'background', 'think'] as const;
export type Scenario = (typeof scenarios)[number];

/** Levels of the service's logs. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The configuration as the engine uses it: checked, complete, environment variables filled in. Holds secrets. */
export interface Config {
  /** Listen address; loopback whenever there is no `apiKey`. */
  readonly host: string;
  /** Listen port; 0 lets the system choose one. */
  readonly port: number;
  /** The key that clients must send; none: nobody needs one. */
  readonly apiKey: string | undefined;
  /** Whether logs are written at all. */
  readonly log: boolean;
  readonly logLevel: LogLevel;
  /** Processes that serve the port together. */
  readonly workers: number;
  /** Names besides loopback and `host` that a request's `Host` may carry. */
  readonly allowedHosts: readonly string[];
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
  readonly providers: readonly Provider[];
  readonly router: RouterConfig;
  /** In the user's order; rows that claude-code-router's provider fields stand for come after them. */
  readonly transformers: readonly TransformerEntry[];
}

/** What a request may measure at most, and what may go out to one provider at a time. */
export interface Limits {
  /** Bytes of a request body as sent. */
  readonly bodyBytes: number;
  /** Bytes of a request body once decompressed. */
  readonly decompressedBytes: number;
  /** Decompressed bytes per compressed byte. */
  readonly ratio: number;
  /** Nesting of a request's JSON. */
  readonly jsonDepth: number;
  /** Requests of one client address at work at the same time. */
  readonly requestsPerClient: number;
  /** Connections of one client address. */
  readonly connectionsPerClient: number;
  /** Connections to one provider; each call holds one until its answer has ended. */
  readonly connectionsPerProvider: number;
  /** Calls that may wait for one of them. */
  readonly queuePerProvider: number;
}

/** How long the service waits, in milliseconds. */
export interface Timeouts {
  /** For a connection to the provider, TLS included. */
  readonly connectMs: number;
  /** For the first byte of the provider's answer. */
  readonly firstByteMs: number;
  /** Between two pieces of the provider's answer. */
  readonly idleMs: number;
  /** For a connection to become free, where the provider has all that it may have. */
  readonly queueMs: number;
  /** For a transformer's word on what it was given. */
  readonly stageMs: number;
  /** For streams in flight when the service stops. */
  readonly drainMs: number;
}

/** How a call that failed is made again. */
export interface RetryPolicy {
  /** Further tries at one destination. */
  readonly attempts: number;
  /** The share of a provider's live requests that may be on a further try. */
  readonly budget: number;
  /** So many of them may be, however few requests are live. */
  readonly floor: number;
  /** The wait before the first further try is a random part of this, and doubles each time, in milliseconds. */
  readonly baseMs: number;
  /** The longest of these waits, in milliseconds. */
  readonly maxMs: number;
  /** The longest wait that an upstream may ask for, in milliseconds; if it asks for more, there is no further try. */
  readonly retryAfterMs: number;
}

/** When a model of a provider is left alone. */
export interface BreakerPolicy {
  /** Faults in a row after which it is. */
  readonly faults: number;
  /** For how long, in milliseconds; then one request tries. */
  readonly openMs: number;
}

/** How long a key is left alone. */
export interface KeyPolicy {
  /** After a rate limit that names no time, in milliseconds. */
  readonly limitedMs: number;
  /** After it was refused, in milliseconds. */
  readonly refusedMs: number;
}

/** An upstream. */
export interface Provider {
  /** Unique; holds no comma. */
  readonly name: string;
  /** The `.invalid` address below when a variable in the user's own isn't set. */
  readonly baseUrl: URL;
  /** At least one, each a credential by itself; an empty one when the upstream needs none. */
  readonly apiKeys: readonly string[];
  readonly models: readonly string[];
  /** Environment variables that this provider's fields name and that aren't set: it can't be used. */
  readonly unset: readonly string[];
}

/** One row of the transformer list. */
export interface TransformerEntry {
  /** Path of the entry in the configuration, for faults that only the tables of transformers can show. */
  readonly at: string;
  /** Name in the tables; for a module, a name for messages until it has loaded. */
  readonly name: string;
  /** The provider it is for, as that one is named in `Config.providers`; absent: all. */
  readonly provider?: string;
  /** The models it is for; absent: all. */
  readonly models?: readonly string[];
  /** A module to load, as written: absolute, or relative to the configuration's folder. */
  readonly path?: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Where requests with a bare model name go. Each destination is `provider,model`, or a model that some provider lists. */
export interface RouterConfig {
  readonly default: string | undefined;
  /** Tokens above which a request counts as long. */
  readonly longContextThreshold: number;
  readonly routes: Readonly<Partial<Record<Scenario, string>>>;
  /** Where requests go instead, in this order, when the destination that a rule chose can't serve them. */
  readonly fallback: Readonly<Partial<Record<FallbackRule, readonly string[]>>>;
}

/** The rules that may have fallbacks. */
export const fallbackRules = ['default', ...scenarios] as const;
export type FallbackRule = (typeof fallbackRules)[number];

/** Stands for a base URL that can't be known; never resolves. Source: RFC 2606, section 2. */
export const unknownBaseUrl = 'http://unset.invalid/';

/** What holds where the configuration says nothing. */
export const defaults = {
  host: '127.0.0.1',
  port: 3456,
  log: true,
  logLevel: 'info',
  workers: 1,
  longContextThreshold: 60_000,
  limits: {
    bodyBytes: 32 * 1024 * 1024,
    /** Decompressed bytes allowed per byte of `bodyBytes`, so that one setting scales both. */
    decompressedPerBodyByte: 2,
    ratio: 200,
    jsonDepth: 256,
    requestsPerClient: 1024,
    connectionsPerProvider: 2048,
    queuePerProvider: 1024,
  },
  timeouts: {
    connectMs: 10_000,
    firstByteMs: 300_000,
    idleMs: 120_000,
    queueMs: 30_000,
    stageMs: 30_000,
    drainMs: 30_000,
  },
  retry: { attempts: 2, budget: 0.2, floor: 3, baseMs: 500, maxMs: 8_000, retryAfterMs: 60_000 },
  breaker: { faults: 5, openMs: 30_000 },
  keys: { limitedMs: 30_000, refusedMs: 300_000 },
} as const;
