import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { SessionSpending } from '../config/custom/session-spending.ts';
import { type SharedMemory, StageMemories } from '../config/custom/stage-memory.ts';
import type { Environment } from '../config/env.ts';
import { keepAliveMs as defaultKeepAliveMs } from '../config/schema.ts';
import { readStateKeys } from '../config/sections/fleet.ts';
import type { BlobValues, HubStore } from '../hub/contract.ts';
import type { Fleet } from '../hub/fleet.ts';
import { Hub } from '../hub/hub.ts';
import { createSealer, type Sealer } from '../hub/seal.ts';
import type { Logs } from '../observe/log/logs.ts';
import { SecretList } from '../observe/log/mask-text.ts';
import { openLogs } from '../observe/log/open-logs.ts';
import { LoopStalls } from '../observe/loop-stalls.ts';
import { createLossCounter, type LossSeries } from '../observe/loss-counter.ts';
import { createCatalogue, type ModelCatalogue } from '../routing/catalogue/catalogue.ts';
import { type GatewayOptions, hiddenIn } from '../routing/gateway.ts';
import { MissingCapabilities } from '../routing/missing.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { type SharedTexts, shareSignatures } from '../routing/reasoning/shared-signatures.ts';
import { createSignatureCache } from '../routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../routing/taught.ts';
import { CountingThread } from '../routing/tokens/counting-thread.ts';
import { createPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { watchLoop } from '../runtime/loop-watch.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import type { OpenStore } from '../store/store-thread.ts';
import type { OpenClient } from '../upstream/connection.ts';
import { createUpstreamHealth } from '../upstream/health/health.ts';
import { createCommandKeys } from '../upstream/keys/command-keys.ts';
import { openPersistence, type Persistence } from './persistence.ts';
import { hopName, sessionSecret } from './session-secret.ts';
import type { Peers } from './workers/peers.ts';
import type { Supervision } from './workers/worker.ts';

/** Options of `openServices`. */
export interface ServicesOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders besides `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Commands that may be run for the keys of providers. */
  readonly keyCommands?: readonly string[];
  /** Time limit of such a command, in milliseconds. */
  readonly keyCommandMs?: number;
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
  /** Supervision of the service; absent: this process is the whole service and can't be restarted. */
  readonly supervision?: Supervision;
  /** The clock of breakers, cooldowns and limits, in milliseconds since 1970; absent: a monotonic one. */
  readonly healthNowMs?: () => number;
  /** The clock of usage by hours, of what stages remember and of what refusals teach, in milliseconds since 1970; absent: the system's. */
  readonly nowMs?: () => number;
  /** Opens the files of the store; absent: in threads. */
  readonly openStore?: OpenStore;
  /** Silence of a stream after which its client gets a keep-alive, in milliseconds. */
  readonly keepAliveMs?: number;
  /** The HTTP client toward upstreams; absent: undici. */
  readonly openClient?: OpenClient;
}

/** The parts of a process that outlive each gateway. */
export interface ProcessServices {
  readonly logs: Logs;
  readonly secrets: SecretList;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  readonly gatewayOptions: GatewayOptions;
  readonly catalogue: ModelCatalogue;
  /** State shared by the processes of the service, on all machines of a fleet; absent: this process is the only one and stays so. */
  readonly hub: Hub | undefined;
  /** Makes the service's other processes apply the configuration's file; absent as `hub`. */
  readonly applyToOthers: Peers['apply'] | undefined;
  /** Waits until no other process changes the configuration; absent as `hub`. */
  readonly turn: Peers['turn'] | undefined;
  /** This process as a member of its fleet; absent: there is only this machine. */
  readonly fleet: Fleet | undefined;
  /** A secret of the service's folder, from which names are derived. */
  readonly sessionSecret: () => string;
  /** A monotonic clock, in milliseconds since 1970. */
  readonly steadyNowMs: () => number;
  /** Notifies the service's other processes of new model lists. */
  readonly modelsRefreshed: () => void;
  /** Keeps what requests leave. */
  readonly persistence: Persistence;
  /** Stalls of this process's event loop. */
  readonly stalls: LoopStalls;
  readonly close: () => Promise<void>;
}

/** Opens the services of a process that starts with `config`. */
export const openServices = async (
  {
    env,
    home,
    transformerFolders = [],
    keyCommands = [],
    keyCommandMs = 10_000,
    report,
    healthNowMs = steadyClock.nowMs,
    nowMs = Date.now,
    keepAliveMs = defaultKeepAliveMs,
    openClient,
    openStore,
  }: ServicesOptions,
  registry: Omit<TransformerRegistry, 'custom'>,
  config: Config,
  peers: Peers | undefined,
): Promise<ProcessServices> => {
  const secret = sessionSecret(home);
  const stateKeys = readStateKeys(env);
  const secrets = new SecretList();
  secrets.reset(hiddenIn(config));
  const logs = openLogs({
    home,
    enabled: config.log,
    level: config.logLevel,
    onTrouble: report,
    secrets: secrets.all,
  });
  const fleet =
    peers &&
    config.fleet &&
    (await import('../hub/fleet.ts')).joinFleet(fleetStoreOf(peers), { ...config, fleet: config.fleet }, logs.app);
  const hub = fleet?.hub ?? (peers && openHub(peers, config.workers, logs.app));
  const signatures = createSignatureCache();
  const fleetKeys = (config.fleet?.keys ?? []).map((key) => Buffer.from(key));
  // With keys, all values are encrypted, because they are kept on disk or by the fleet's store.
  const texts: SharedTexts | undefined = hub && {
    ...textsOver(hub, createSealer([...fleetKeys, ...stateKeys])),
    isOpen: () => fleet !== undefined || stateKeys.length > 0 || hub.isShared,
  };
  const commandKeys = createCommandKeys({
    allowed: keyCommands,
    async run(command, signal) {
      // Loaded only if it is configured.
      const { runCommand } = await import('../upstream/keys/run-command.ts');
      return runCommand({ command, cwd: home, env, limitMs: keyCommandMs, signal });
    },
    nowMs: steadyClock.nowMs,
    obtained: (keys) => secrets.obtain(keys),
    warn: (message) => logs.app.warn(message),
  });
  const losses = createLossCounter();
  const counting = new CountingThread();
  const catalogue = createCatalogue(home);
  const stalls = new LoopStalls(logs.app, steadyClock.nowMs);
  const stopWatching = watchLoop((stall) => stalls.add(stall));
  // In the supervisor, or in this process.
  const { persistence, close: closePersistence } = peers?.persistence
    ? { persistence: peers.persistence, close: undefined }
    : ownPersistence({ home, nowMs, steadyNowMs: healthNowMs, log: logs.app, openStore });
  return {
    logs,
    secrets,
    sessionSecret: secret,
    steadyNowMs: healthNowMs,
    modelsRefreshed() {
      if (peers?.isShared()) void peers.ask({ kind: 'models' });
    },
    losses: losses.series,
    catalogue,
    persistence,
    stalls,
    hub,
    applyToOthers: peers && (() => peers.apply()),
    turn: peers && (() => peers.turn()),
    fleet,
    gatewayOptions: {
      env,
      home,
      host: config.host,
      openClient,
      transformerFolders,
      registry,
      services: {
        tokens: createPromptTokens(counting),
        log: logs.app,
        signatures: texts ? shareSignatures(signatures, texts) : signatures,
        losses,
        health: createUpstreamHealth({ nowMs: healthNowMs, random: Math.random }, hub, peers?.nodeId),
        catalogue,
        taught: new TaughtMemory(nowMs, hub),
        missing: new MissingCapabilities(healthNowMs),
        keepAliveMs,
        commandKeys,
        stageMemories: new StageMemories(nowMs, hub && sharedMemory(hub, createSealer([...fleetKeys, ...stateKeys]))),
        spending: new SessionSpending(),
        hop: hopName(secret),
      },
      // Loaded only if it is configured.
      demo: async () => (await import('./demo/demo.ts')).callDemo,
    },
    async close() {
      await closePersistence?.();
      stopWatching();
      counting.close();
      commandKeys.close();
      await hub?.stop();
      await logs.close();
    },
  };
};

const ownPersistence = (options: Parameters<typeof openPersistence>[0]) => {
  const { join, close } = openPersistence(options);
  return { persistence: join(), close };
};

/** If the service began without a fleet, each of its processes enforces its share of the fleet's limits. */
const fleetStoreOf = ({ store, nodeId }: Pick<Peers, 'store' | 'nodeId'>): HubStore =>
  nodeId === undefined ? { ...store, exchange: () => Promise.reject(new Error(beganWithoutFleet)) } : store;

const beganWithoutFleet = 'The service began without FLEET; a restart of the whole service takes it up.';

const openHub = ({ store, isShared }: Pick<Peers, 'store' | 'isShared'>, workers: number, log: Logs['app']): Hub => {
  const hub = new Hub({
    store,
    member: `${process.pid} ${randomUUID()}`,
    nowMs: steadyClock.nowMs,
    isShared,
    expected: workers,
    onSilence(isSilent) {
      if (isSilent) log.warn("the service's main process does not answer; this process goes on by itself");
      else log.info("the service's main process answers again");
    },
  });
  hub.start();
  return hub;
};

/** Lifetime of reasoning for other processes and restarts, in milliseconds. */
const reasoningMs = 86_400_000;

/** The stages' memory in the hub, sealed with the first of the keys. */
const sharedMemory = (hub: Hub, sealer: Sealer): SharedMemory => ({
  isShared: () => hub.isShared,
  put(plainName, value, ms) {
    const { name, value: sealed } = sealer.seal(plainName, value);
    hub.putBlob(name, sealed, ms);
  },
  async read(plainName) {
    const lookups = sealer.lookups(plainName);
    const values = await hub.readBlobs(lookups.map(({ name }) => name));
    for (const [index, { open }] of lookups.entries()) {
      const value = values?.[index] ?? null;
      const text = value === null ? undefined : open(value);
      if (text !== undefined) return text;
    }
    return undefined;
  },
  async add(name, by) {
    await hub.whenKnown([name]);
    hub.add(name, by);
    return hub.total(name);
  },
});

/** Reasoning in the hub, sealed with the first of the keys. */
const textsOver = (hub: Hub, sealer: Sealer): Omit<SharedTexts, 'isOpen'> => ({
  put(plainName, text) {
    const { name, value } = sealer.seal(plainName, text);
    hub.putBlob(name, value, reasoningMs);
  },
  async read(names, late) {
    const lookups = names.map((name) => sealer.lookups(name));
    const textsOf = (values: BlobValues): readonly (string | undefined)[] => {
      let next = 0;
      return lookups.map((keys) => {
        const opened = keys.map(({ open }) => {
          const value = values[next] ?? null;
          next += 1;
          return value === null ? undefined : open(value);
        });
        return opened.find((text) => text !== undefined);
      });
    };
    const sealedNames = lookups.flatMap((keys) => keys.map(({ name }) => name));
    const values = await hub.readBlobs(sealedNames, (more) => late(textsOf(more)));
    return values && textsOf(values);
  },
});
