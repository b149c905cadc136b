import type { LogLevel } from '../log/logs.ts';

/** The routing rules for bare model names, in the order in which they are tried. */
export const scenarios = ['longContext', 'image', 'webSearch', 'background', 'think'] as const;
export type Scenario = (typeof scenarios)[number];

/** The configuration as the engine uses it: checked, complete, environment variables filled in. Holds secrets. */
export interface Config {
  /** Listen address; loopback whenever there is no `apiKey`. */
  readonly host: string;
  /** Listen port; 0 lets the system choose one. */
  readonly port: number;
  /** The key that clients must send; `undefined`: no key is required. */
  readonly apiKey: string | undefined;
  /** Whether logs are written at all. */
  readonly log: boolean;
  readonly logLevel: LogLevel;
  /** Processes that serve the port together. */
  readonly workers: number;
  /** Names besides loopback and `host` that a request's `Host` may carry. */
  readonly allowedHosts: readonly string[];
  /** Whether the chat route rejects JSON Schemas for answers and the older form of tools. */
  readonly chatStrict: boolean;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
  readonly providers: readonly Provider[];
  readonly router: RouterConfig;
  /** In the user's order, followed by entries from claude-code-router's provider fields. */
  readonly transformers: readonly TransformerEntry[];
}

/** Size limits of requests and answers, and concurrency limits. */
export interface Limits {
  /** Bytes of a request body as sent. */
  readonly bodyBytes: number;
  /** Bytes of a request body once decompressed. */
  readonly decompressedBytes: number;
  /** Bytes of memory for the bodies of all active requests. */
  readonly bodiesBytes: number;
  /** Maximum decompressed bytes per compressed byte. */
  readonly ratio: number;
  /** Nesting levels of a request's JSON. */
  readonly jsonDepth: number;
  /** Concurrent requests per client address. */
  readonly requestsPerClient: number;
  /** Connections per client address. */
  readonly connectionsPerClient: number;
  /** Connections per provider; each call holds one until its answer has ended. */
  readonly connectionsPerProvider: number;
  /** Calls that may wait for such a connection, per provider. */
  readonly queuePerProvider: number;
  /** Bytes of one record of a provider's stream. */
  readonly recordBytes: number;
  /** Bytes of a provider's whole answer, and of the content of a stream that is converted. */
  readonly replyBytes: number;
  /** Bytes of a provider's compressed answer, as sent and once decompressed. */
  readonly decompressedReplyBytes: number;
}

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** For a connection to the provider, TLS included. */
  readonly connectMs: number;
  /** For the first byte of the provider's answer. */
  readonly firstByteMs: number;
  /** Between two pieces of the provider's answer. */
  readonly idleMs: number;
  /** For a connection to become free when the provider's limit is reached. */
  readonly queueMs: number;
  /** For a custom transformer to process its input. */
  readonly stageMs: number;
  /** For streams in flight when the service stops. */
  readonly drainMs: number;
}

/** How failed calls are retried. */
export interface RetryPolicy {
  /** Maximum retries per destination. */
  readonly attempts: number;
  /** Share of a provider's active requests that may be retries. */
  readonly budget: number;
  /** Retries that are always allowed, however few requests are active. */
  readonly floor: number;
  /** The wait before the first retry is a random part of this; doubles each time. In milliseconds. */
  readonly baseMs: number;
  /** Maximum of one wait, in milliseconds. */
  readonly maxMs: number;
  /** Maximum of all waits of one request, in milliseconds; below `keepAliveMs`. */
  readonly waitMs: number;
}

/** When the circuit breaker of a provider's model opens. */
export interface BreakerPolicy {
  /** Consecutive faults that open it. */
  readonly faults: number;
  /** How long it stays open, in milliseconds; then one request probes. */
  readonly openMs: number;
}

/** Cooldowns of keys. */
export interface KeyPolicy {
  /** After a rate limit without a time, in milliseconds. */
  readonly limitedMs: number;
  /** After the key was rejected, in milliseconds. */
  readonly refusedMs: number;
}

/** An upstream. */
export interface Provider {
  /** Unique; contains no comma. */
  readonly name: string;
  /** `unknownBaseUrl` if a variable in the configured URL is not set. */
  readonly baseUrl: URL;
  /** At least one; a single empty key if the upstream needs none. */
  readonly apiKeys: readonly string[];
  readonly models: readonly string[];
  /** Unset environment variables that the provider refers to; if any, it can't be used. */
  readonly unset: readonly string[];
}

/** One entry of the transformer list. */
export interface TransformerEntry {
  /** Path of the entry in the configuration, for faults. */
  readonly at: string;
  /** Name of the transformer; for a module, a name for messages until it is loaded. */
  readonly name: string;
  /** Name of the provider in `Config.providers`; absent: all. */
  readonly provider?: string;
  /** Models that it applies to; absent: all. */
  readonly models?: readonly string[];
  /** Path of a module to load: absolute, or relative to the configuration's folder. */
  readonly path?: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Routing of bare model names. A destination is `provider,model`, or a model that a provider lists. */
export interface RouterConfig {
  readonly default: string | undefined;
  /** Prompt tokens above which a request counts as long. */
  readonly longContextThreshold: number;
  readonly routes: Readonly<Partial<Record<Scenario, string>>>;
  /** Fallback destinations by rule, in order. */
  readonly fallback: Readonly<Partial<Record<FallbackRule, readonly string[]>>>;
}

/** The rules that can have fallbacks. */
export const fallbackRules = ['default', ...scenarios] as const;
export type FallbackRule = (typeof fallbackRules)[number];

/** Placeholder for an unknown base URL; never resolves. Source: RFC 2606, section 2. */
export const unknownBaseUrl = 'http://unset.invalid/';

/**
 * Milliseconds of silence after which a streaming client gets a keep-alive. The first one sends status 200, so later failures
 * can't have their own status and headers.
 */
export const keepAliveMs = 15_000;

/** The default configuration. */
export const defaults = {
  host: '127.0.0.1',
  port: 3456,
  log: true,
  logLevel: 'info',
  workers: 1,
  longContextThreshold: 60_000,
  chatStrict: true,
  limits: {
    bodyBytes: 32 * 1024 * 1024,
    /** Decompressed bytes allowed per byte of `bodyBytes`, so that one setting scales both. */
    decompressedPerBodyByte: 2,
    bodiesBytes: 512 * 1024 * 1024,
    ratio: 200,
    jsonDepth: 256,
    requestsPerClient: 1024,
    connectionsPerProvider: 2048,
    queuePerProvider: 1024,
    recordBytes: 64 * 1024 * 1024,
    replyBytes: 64 * 1024 * 1024,
    decompressedReplyBytes: 64 * 1024 * 1024,
  },
  timeouts: {
    connectMs: 10_000,
    firstByteMs: 300_000,
    idleMs: 120_000,
    queueMs: 30_000,
    stageMs: 30_000,
    drainMs: 30_000,
  },
  retry: { attempts: 2, budget: 0.2, floor: 3, baseMs: 500, maxMs: 8_000, waitMs: 10_000 },
  breaker: { faults: 5, openMs: 30_000 },
  keys: { limitedMs: 30_000, refusedMs: 300_000 },
} as const;
