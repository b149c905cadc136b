import { isDeepStrictEqual } from 'node:util';
import { defer, mergeMap } from 'rxjs';
import type { Config } from '../config/config.ts';
import { loadRouter } from '../config/custom/load-router.ts';
import { loadStages } from '../config/custom/load-stages.ts';
import type { SessionSpending } from '../config/custom/session-spending.ts';
import type { StageMemories } from '../config/custom/stage-memory.ts';
import type { Environment } from '../config/env.ts';
import { effectiveApiKey } from '../config/files/change.ts';
import { hasUsdBudget } from '../config/sections/clients.ts';
import { type Destination, findDestination, findPool, providerNamed } from '../config/sections/destination.ts';
import { isDemo } from '../config/sections/providers.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { isVendors } from '../model/transformer.ts';
import type { Logs } from '../observe/log/logs.ts';
import type { HiddenText } from '../observe/log/mask-text.ts';
import type { LossCounter } from '../observe/loss-counter.ts';
import { BoundedMap } from '../runtime/memoize.ts';
import type { OpenClient } from '../upstream/connection.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import type { UpstreamHealth } from '../upstream/health/health.ts';
import type { CommandKeys } from '../upstream/keys/command-keys.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { ModelCatalogue } from './catalogue/catalogue.ts';
import type { KnownModel } from './catalogue/known-model.ts';
import { type ClientAccess, compileAccess } from './client-access.ts';
import type { MissingCapabilities } from './missing.ts';
import { conditionOf } from './plan/build-stages.ts';
import type { FormatChoice, TransformerRegistry } from './plan/choose-format.ts';
import { applies, compilePlan, formatOf, type Plan, type PlanKey } from './plan/plan.ts';
import { compilePools, type Pools } from './pools.ts';
import type { SharedSignatureCache } from './reasoning/shared-signatures.ts';
import type { SignatureCache } from './reasoning/signature-cache.ts';
import { asksModels } from './rules/condition.ts';
import { type CompiledRules, compileRules } from './rules/rules.ts';
import { compileStageConditions, type StageConditions } from './rules/stage-conditions.ts';
import { type LongContext, longContextFor } from './scenarios.ts';
import type { TaughtMemory } from './taught.ts';
import type { PromptTokens } from './tokens/prompt-tokens.ts';

/** A configuration compiled for use: everything that serving a request needs. */
export interface Gateway extends Services {
  /** With the key that clients must send. */
  readonly config: Config;
  readonly registry: TransformerRegistry;
  /** The access of each client with a key of its own, by name. */
  readonly access: ReadonlyMap<string, ClientAccess>;
  readonly planFor: (key: PlanKey) => Plan;
  /** The user's own rules; `undefined`: there are none. */
  readonly rules: CompiledRules | undefined;
  /** The conditions of transformers; `undefined`: there are none. */
  readonly conditions: StageConditions | undefined;
  /** Whether one of them may ask a model. */
  readonly decides: boolean;
  readonly formatOf: (destination: Destination) => FormatChoice;
  /** Known facts of a provider's model. */
  readonly modelFacts: (destination: Destination) => KnownModel;
  /** The destination of `Router.default`; `undefined` without one, or if it is a pool. */
  readonly defaultDestination: Destination | undefined;
  readonly pools: Pools;
  /** The threshold above which a request counts as long. */
  readonly longContext: () => LongContext;
  /** Whether most requests of this client protocol are likely to be relayed: those to the default route do. */
  readonly likelyRelays: (client: ClientProtocol) => boolean;
}

/** The services that a gateway uses. They outlive a change of the configuration. */
export interface Services {
  readonly upstreams: Upstreams;
  /** The keys that commands print. */
  readonly commandKeys: CommandKeys;
  readonly tokens: PromptTokens;
  readonly log: Logs['app'];
  /** Reasoning that clients may lose, cached. */
  readonly signatures: SignatureCache & Partial<SharedSignatureCache>;
  /** Counts the losses of each field. */
  readonly losses: LossCounter;
  /** The observed health of the upstreams. */
  readonly health: UpstreamHealth;
  readonly catalogue: ModelCatalogue;
  /** The memory of custom stages. */
  readonly stageMemories: Pick<StageMemories, 'of'>;
  /** Usage of sessions, for custom stages. */
  readonly spending: SessionSpending;
  /** Lessons from providers' refusals. */
  readonly taught: TaughtMemory;
  /** Capabilities that upstreams turned out to lack. */
  readonly missing: MissingCapabilities;
  /** This gateway's name in the list of those that a request has passed. */
  readonly hop: () => string;
  /** Milliseconds of silence after which a streaming client gets a keep-alive. */
  readonly keepAliveMs: number;
}

/** The gateway in use. A changed configuration replaces it. */
export interface CurrentGateway {
  readonly gateway: Gateway;
}

/** Plans kept. A bound, since clients choose the model names. */
const maxPlans = 1_000;

/** Compiles a configuration. Plans are compiled on first use. */
export const compileGateway = (config: Config, registry: TransformerRegistry, services: Services): Gateway => {
  const { catalogue } = services;
  const plans = new BoundedMap<string, Plan>(maxPlans);
  const facts = new BoundedMap<string, KnownModel>(maxPlans);
  let longContext: LongContext | undefined;
  let version = catalogue.version();
  /** Drops everything that was derived from older facts. */
  const renew = (): void => {
    if (catalogue.version() === version) return;
    version = catalogue.version();
    plans.clear();
    facts.clear();
    longContext = undefined;
  };
  const choose = (destination: Destination): FormatChoice => formatOf(config, registry, destination);
  const modelFacts = ({ provider, model }: Destination): KnownModel => {
    renew();
    const know = (): KnownModel => catalogue.know(provider, model, choose({ provider, model }));
    return facts.remember(`${provider.name},${model}`, know);
  };
  const planFor = (key: PlanKey): Plan => {
    renew();
    const compile = (): Plan => compilePlan(config, registry, key, limitsOf(modelFacts(key), choose(key)));
    const { client, provider, model, holding } = key;
    const held = conditions && holding ? ` ${heldBy(conditions, key, holding)}` : '';
    return plans.remember(`${client.wire} ${provider.name},${model}${held}`, compile);
  };
  const conditions = compileStageConditions(config, (entry) => conditionOf(entry, registry));
  // A module that says itself which requests it is for isn't for most.
  const usuallyHolding =
    conditions && positionsOf(conditions.filter(({ entry }) => conditionOf(entry, registry) === entry.when));
  const usual = usualDestination(config);
  const rules = compileRules(config);
  const hasDefault = config.router.default !== undefined && usual?.pool === undefined;
  return {
    ...services,
    config,
    registry,
    access: compileAccess(config.clients),
    planFor,
    rules,
    conditions,
    decides: [...(rules ?? []), ...(conditions ?? [])].some(({ condition }) => asksModels(condition)),
    formatOf: choose,
    modelFacts,
    defaultDestination: hasDefault ? usual : undefined,
    longContext() {
      renew();
      const { longContextThreshold: threshold } = config.router;
      const limits = (destination: Destination) => limitsOf(modelFacts(destination), choose(destination));
      longContext ??=
        threshold === undefined
          ? longContextFor(usualDestinations(config).flatMap((destination) => limits(destination).window ?? []))
          : { threshold };
      return longContext;
    },
    pools: compilePools(config, { health: services.health, planFor }),
    likelyRelays(client) {
      const { requestRelay, replyRelay } = usual
        ? planFor({ client, provider: usual.provider, model: usual.model, holding: usuallyHolding }).graph
        : closed;
      return requestRelay.open && replyRelay.open;
    },
  };
};

const positionsOf = (conditions: StageConditions): ReadonlySet<number> =>
  new Set(conditions.map(({ position }) => position));

/** The conditions of a destination that hold. */
const heldBy = (conditions: StageConditions, destination: Destination, holding: ReadonlySet<number>): string =>
  conditions
    .filter(({ entry, position }) => holding.has(position) && applies(entry, destination))
    .map(({ position }) => position)
    .join();

/** The limits of a model's requests. The package's limits don't apply to servers that are merely compatible. */
const limitsOf = ({ context, maxInput, maxOutput, lacks, input, from }: KnownModel, { because }: FormatChoice) => ({
  maxOutput: from.maxOutput === 'package' ? undefined : maxOutput,
  window: from.context === 'package' && !isVendors(because) ? undefined : (maxInput ?? context),
  total: from.context === 'package' ? undefined : context,
  lacks,
  input,
});

const closed = { requestRelay: { open: false }, replyRelay: { open: false } };

/** The default route, or else the first model that a provider lists. */
const usualDestination = (config: Config): Destination | undefined => {
  const { router, providers } = config;
  const [provider] = providers;
  const model = provider?.models[0];
  if (router.default !== undefined) return findDestination(config, router.default);
  return provider && model !== undefined ? { provider, model } : undefined;
};

/** The default route's destination, or the members of its pool. */
const usualDestinations = (config: Config): readonly Destination[] => {
  const pool = findPool(config.pools, config.router.default ?? '');
  if (!pool) return [usualDestination(config)].filter((destination) => destination !== undefined);
  return pool.members.flatMap(({ provider: name, model }) => {
    const provider = providerNamed(config.providers, name);
    return provider ? [{ provider, model }] : [];
  });
};

/** The services that a gateway is built with. */
export interface GatewayOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** The listening address, which changes only on a restart. */
  readonly host: string;
  /** Folders, besides `home`, from which custom transformers may be loaded. */
  readonly transformerFolders: readonly string[];
  readonly registry: Omit<TransformerRegistry, 'custom'>;
  readonly services: Omit<Services, 'upstreams'>;
  /** Loads what answers calls to the embedded provider. */
  readonly demo: () => Promise<Upstreams['call']>;
  /** Default: undici. */
  readonly openClient?: OpenClient | undefined;
}

/**
 * Builds a gateway from a configuration, without changing the active one, `before`. Reuses its upstream connections unless a limit of
 * theirs has changed. `replaces`: it takes the place of `before`, whose connections then get its timeouts; else, other timeouts need
 * connections of their own.
 */
export const buildGateway = async (
  { env, home, host, transformerFolders, registry, services, demo, openClient }: GatewayOptions,
  config: Config,
  before?: Gateway,
  replaces = false,
): Promise<Gateway> => {
  const places = { home, allowed: transformerFolders };
  const custom = await loadStages(config.transformers, places, registry.shipped);
  const router = await loadRouter(config.router.module, places);
  const upstreams =
    before &&
    hasDemo(before.config) === hasDemo(config) &&
    isDeepStrictEqual(connectionLimits(before.config), connectionLimits(config)) &&
    (replaces || isDeepStrictEqual(before.config.timeouts, config.timeouts))
      ? before.upstreams
      : withDemo(
          createUpstreams({
            ...config.timeouts,
            ...config.limits,
            environment: env,
            ...(openClient && { openClient }),
          }),
          config,
          demo,
        );
  const apiKey = effectiveApiKey(host, before?.config.apiKey, config);
  // Budgets in USD need all prices from the first request on.
  if (hasUsdBudget(config)) await services.catalogue.loadPrices();
  return compileGateway({ ...config, apiKey }, { ...registry, custom, router }, { ...services, upstreams });
};

/** Calls to the embedded provider are answered in this process. */
const withDemo = (upstreams: Upstreams, config: Config, demo: GatewayOptions['demo']): Upstreams =>
  hasDemo(config)
    ? {
        ...upstreams,
        call: (call) =>
          isDemo(call.url) ? defer(demo).pipe(mergeMap((answer) => answer(call))) : upstreams.call(call),
      }
    : upstreams;

const hasDemo = ({ providers }: Config): boolean => providers.some(({ baseUrl }) => isDemo(baseUrl));

const connectionLimits = ({ limits }: Config): readonly number[] => [
  limits.connectionsPerProvider,
  limits.queuePerProvider,
  limits.decompressedReplyBytes,
];

/** All secrets of a configuration: those of its file, and the key that stays in use until a restart. */
export const secretsOf = ({ apiKey, secrets }: Config): readonly string[] =>
  apiKey === undefined ? secrets : [apiKey, ...secrets];

/** All that logs and captures of a configuration must not show: its secrets, and the values of its references. */
export const hiddenIn = (config: Config): readonly HiddenText[] => [...secretsOf(config), ...(config.referred ?? [])];
