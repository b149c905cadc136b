import type { JsonObject } from '../model/json/json.ts';
import type { ModelFacts } from '../model/models/model-facts.ts';
import type { LogLevel } from '../observe/log/logs.ts';
import type { ReferredValue } from './env.ts';
import type { When } from './rule-schema.ts';
import type {
  BreakerPolicy,
  ClientBudget,
  ClientLimits,
  HistoryPolicy,
  KeyPolicy,
  Limits,
  PoolStrategy,
  ProviderTimeouts,
  RetryPolicy,
  Timeouts,
} from './schema.ts';

/** The routing rules for bare model names, in the order in which they are tried. */
export const scenarios = ['compact', 'longContext', 'image', 'webSearch', 'background', 'think'] as const;
export type Scenario = (typeof scenarios)[number];

/**
 * The configuration as the engine uses it: checked, complete, environment variables filled in. Holds secrets. The schema
 * describes the fields.
 */
export interface Config {
  /** Without brackets; loopback whenever there is no `apiKey`. */
  readonly host: string;
  readonly port: number;
  /** `undefined`: no key is required. */
  readonly apiKey: string | undefined;
  /** Clients with keys of their own; `undefined`: there is no `CLIENTS`, so the model routes need no key if `apiKey` is absent. */
  readonly clients: readonly NamedClient[] | undefined;
  /** What several machines share; `undefined`: this one shares nothing. */
  readonly fleet: FleetConfig | undefined;
  /** The export of traces and metrics; `undefined`: only what the environment asks for. */
  readonly telemetry: TelemetryConfig | undefined;
  /** Values of variables that are never shown, with the references to show instead; absent: there are none. */
  readonly referred?: readonly ReferredValue[];
  /** Secrets in its file, to be masked in all output. */
  readonly secrets: readonly string[];
  readonly log: boolean;
  readonly logLevel: LogLevel;
  readonly workers: number;
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call the model routes, as browsers write them. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and networks of trusted proxies. */
  readonly proxies: readonly string[];
  /** Client connections stay open for further requests. */
  readonly keepAlive: boolean;
  readonly chatStrict: boolean;
  /** Whether providers' refusals teach; a provider's own `learn` wins. */
  readonly learn: boolean;
  /** Whether providers' answers are checked against the rules of their wire formats. */
  readonly grammar: 'off' | 'watch';
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly keys: KeyPolicy;
  readonly history: HistoryPolicy;
  readonly providers: readonly Provider[];
  readonly pools: readonly Pool[];
  readonly router: RouterConfig;
  /** In the user's order, followed by entries from claude-code-router's provider fields. */
  readonly transformers: readonly TransformerEntry[];
}

/** A client with a key of its own. */
export interface NamedClient {
  /** Unique. Safe as a label and in a file name. */
  readonly name: string;
  /** SHA-256 of its key, in lower-case hexadecimal. */
  readonly keyHash: string;
  /** Globs of the models that it may use; absent: all. */
  readonly models?: readonly string[];
  /** Names of the routes that it may use; absent: all. */
  readonly routes?: readonly string[];
  /** Empty: none. */
  readonly limits: ClientLimits;
  readonly budget?: ClientBudget;
  /** When its key ends, in milliseconds since 1970; absent: never. */
  readonly expiresAtMs?: number;
}

/** An upstream. */
export interface Provider {
  /** Unique; contains no comma. */
  readonly name: string;
  /** `unknownBaseUrl` if a variable in the configured URL is not set. */
  readonly baseUrl: URL;
  /** Further base URLs of the same API, in order; absent: none. */
  readonly otherBaseUrls?: readonly URL[];
  /** At least one; a single empty key if the upstream needs none. */
  readonly apiKeys: readonly string[];
  /** Commands that print keys, by the text that stands for each in `apiKeys`, which no key can be. Absent: none. */
  readonly keyCommands?: ReadonlyMap<string, KeyCommand>;
  readonly models: readonly string[];
  /** `client`: clients send their own, and `apiKeys` has only the empty key. */
  readonly credentials?: 'client';
  /** Limits that win over those of `Config.timeouts`. */
  readonly timeouts?: ProviderTimeouts;
  /** Streamed Responses requests go over a WebSocket. */
  readonly webSocket?: true;
  /** Whether its refusals teach; absent: as `Config.learn` says. */
  readonly learn?: boolean;
  /** What all calls have in addition. */
  readonly extras?: CallExtras;
  /** What calls to one of its models have in addition, beyond `extras`. */
  readonly modelExtras?: ReadonlyMap<string, CallExtras>;
  /** The configured facts about its models. */
  readonly modelFacts?: ReadonlyMap<string, ModelFacts>;
  /** Unset environment variables that the provider refers to; if any, it can't be used. */
  readonly unset: readonly string[];
}

/** A program that prints a key. */
export interface KeyCommand {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** How long the key is used, in milliseconds. */
  readonly forMs: number;
}

/** What calls have beside what the format makes of a request. */
export interface CallExtras {
  /** By lower-case name. May hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of the URL. May hold secrets. */
  readonly query: Readonly<Record<string, string>>;
  /** A JSON Merge Patch (RFC 7396) of the body. */
  readonly body: JsonObject;
}

/** Several destinations under one name. */
export interface Pool {
  /** Unique; contains no comma. */
  readonly name: string;
  readonly strategy: PoolStrategy;
  /** At least one; each destination occurs once. */
  readonly members: readonly PoolMember[];
}

export interface PoolMember {
  /** The name of a provider in `Config.providers`. */
  readonly provider: string;
  readonly model: string;
  /** Above 0. */
  readonly weight: number;
  /** Whether it serves requests for this model. */
  readonly serves: (asked: string) => boolean;
}

/** Where several machines share breakers, limits and reasoning. */
export interface FleetConfig {
  /** One store, the nodes of a cluster, or sentinels. May hold a password. */
  readonly urls: readonly URL[];
  /** The name of the primary among sentinels. */
  readonly primary: string | undefined;
  /** File of the certificates that sign the store's. */
  readonly ca: string | undefined;
  readonly name: string;
  /** 32 bytes each: the first seals, all open. */
  readonly keys: readonly Uint8Array[];
  /** The base URL at which the others reach this machine. */
  readonly address: URL | undefined;
  /** Machines to assume until the store has reported their number. */
  readonly replicas: number;
  readonly withoutStore: 'share' | 'refuse' | 'open';
}

/** What is exported to an OpenTelemetry collector. */
export interface TelemetryConfig {
  /** `undefined`: that of the environment, else the default. */
  readonly endpoint: URL | undefined;
  /** By lower-case name. May hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string | undefined;
  readonly traces: boolean;
  readonly metrics: boolean;
  /** The share of requests without a `traceparent` whose spans are sent. */
  readonly ratio: number;
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
  /** Destinations that the module may call besides that of the request. */
  readonly ask?: readonly string[];
  /** How long the module may take, in milliseconds; absent: `TIMEOUTS.stageMs`. */
  readonly timeoutMs?: number;
  /** Which requests the stage runs for; absent: all. */
  readonly when?: When;
  /** What follows when the stage fails: the request fails, or goes on without it; absent: it fails. */
  readonly onError?: 'fail' | 'skip';
  readonly options: Readonly<Record<string, unknown>>;
}

/** Routing of bare model names. A destination is `provider,model`, a model that a provider lists, or a pool. */
export interface RouterConfig {
  readonly default: string | undefined;
  /** Prompt tokens above which a request counts as long; absent: as the window of the default route says. */
  readonly longContextThreshold?: number;
  /** The prompt for summaries of conversations; absent: the usual one. */
  readonly compactPrompt?: string;
  readonly routes: Readonly<Partial<Record<Scenario, string>>>;
  /** Fallback destinations by rule, in order. */
  readonly fallback: Readonly<Partial<Record<FallbackRule, readonly string[]>>>;
  /** Rules of the user's own, in order; absent: none. */
  readonly rules?: readonly RouteRule[];
  /** The module that is asked before the rules; absent: none. */
  readonly module?: RouterModule;
}

/** A module that routes requests. */
export interface RouterModule {
  /** Absolute, or relative to the configuration's folder. */
  readonly path: string;
  /** `messages`: it takes a Messages request and the configuration, as custom routers of claude-code-router do. */
  readonly form: 'question' | 'messages';
}

/** A routing rule of the user's own. */
export interface RouteRule {
  /** Unique. Safe as a label. */
  readonly name: string;
  readonly when: When;
  /** The destination, followed by its fallbacks. */
  readonly to: readonly [string, ...string[]];
  /** `turn`: once its condition held, the rule holds until the user speaks again. */
  readonly hold?: 'turn';
}

/** The rules that can have fallbacks. */
export const fallbackRules = ['default', ...scenarios] as const;
export type FallbackRule = (typeof fallbackRules)[number];

/** Placeholder for an unknown base URL; never resolves. Source: RFC 2606, section 2. */
export const unknownBaseUrl = 'http://unset.invalid/';
