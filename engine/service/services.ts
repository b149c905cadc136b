import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { createCatalogue } from '../catalogue/catalogue.ts';
import { createLimiter, type LimitShare } from '../clients/limiter.ts';
import { UsageLedger } from '../clients/usage.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { keepAliveMs as defaultKeepAliveMs } from '../config/schema.ts';
import { Hub } from '../hub/hub.ts';
import { createSealer, readStateKeys, type Sealer } from '../hub/seal.ts';
import type { Logs } from '../log/logs.ts';
import { openLogs } from '../log/open-logs.ts';
import { createLossCounter } from '../observe/losses.ts';
import type { LossSeries } from '../observer.ts';
import { type SharedTexts, shareSignatures } from '../reasoning/shared-signatures.ts';
import { createSignatureCache } from '../reasoning/signature-cache.ts';
import { type GatewayOptions, secretsOf } from '../routing/gateway.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { CountingThread } from '../routing/tokens/counting-thread.ts';
import { createPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { createUpstreamHealth, steadyNowMs } from '../upstream/health/health.ts';
import { type Demo, startDemo } from './demo/demo-server.ts';
import type { Peers } from './workers/peers.ts';
import type { Supervision } from './workers/worker.ts';

/** What the services are opened with. */
export interface ServicesOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders besides `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
  /** Supervision of the service; absent: this process is the whole service and can't be restarted. */
  readonly supervision?: Supervision;
  /** The clock of breakers, cooldowns and limits, in milliseconds since 1970; absent: one that never goes back. */
  readonly healthNowMs?: () => number;
  /** How long a stream may be silent before its client gets a sign of life, in milliseconds. */
  readonly keepAliveMs?: number;
}

/** What outlives each gateway of a process. */
export interface ProcessServices {
  readonly logs: Logs;
  readonly secrets: MaskedSecrets;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  readonly gatewayOptions: GatewayOptions;
  /** What the processes of the service share; absent: this one is alone for ever. */
  readonly hub: Hub | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the services of a process that starts with `config`. */
export const openServices = (
  {
    env,
    home,
    transformerFolders = [],
    report,
    supervision,
    healthNowMs = steadyNowMs,
    keepAliveMs = defaultKeepAliveMs,
  }: ServicesOptions,
  registry: Omit<TransformerRegistry, 'custom'>,
  config: Config,
  peers: Pick<Peers, 'store' | 'isShared'> | undefined,
): ProcessServices => {
  const stateKeys = readStateKeys(env);
  const secrets = new MaskedSecrets();
  secrets.reset(config);
  const logs = openLogs({
    home,
    enabled: config.log,
    level: config.logLevel,
    onTrouble: report,
    secrets: () => secrets.all,
  });
  const hub = peers && openHub(peers, logs.app);
  const signatures = createSignatureCache();
  const losses = createLossCounter();
  const usage = new UsageLedger(healthNowMs);
  const counting = new CountingThread();
  const catalogue = createCatalogue(home);
  let demo: Promise<Demo> | undefined;
  return {
    logs,
    secrets,
    losses: losses.series,
    hub,
    gatewayOptions: {
      env,
      home,
      host: config.host,
      transformerFolders,
      registry,
      services: {
        tokens: createPromptTokens(counting),
        log: logs.app,
        signatures: hub && peers ? shareSignatures(signatures, sharedTexts(hub, stateKeys, peers)) : signatures,
        losses,
        health: createUpstreamHealth({ nowMs: healthNowMs, random: Math.random }, hub),
        usage,
        limiter: createLimiter({
          nowMs: healthNowMs,
          share: () => shareOf(config.workers, supervision),
          shared: hub,
        }),
        catalogue,
        keepAliveMs,
      },
      async demoBaseUrl() {
        demo ??= startDemo();
        return new URL((await demo).baseUrl);
      },
    },
    async close() {
      void demo?.then((started) => started.close());
      counting.close();
      await hub?.stop();
      await logs.close();
    },
  };
};

/** This process's share of the limits of clients: that of its place among the workers. One that isn't among them has the least. */
const shareOf = (workers: number, supervision: Supervision | undefined): LimitShare => {
  const place = supervision?.fleet().workers.findIndex(({ pid }) => pid === process.pid) ?? 0;
  return { index: place < 0 ? workers - 1 : place, of: supervision ? workers : 1 };
};

const openHub = ({ store, isShared }: Pick<Peers, 'store' | 'isShared'>, log: Logs['app']): Hub => {
  const hub = new Hub({
    store,
    member: `${process.pid} ${randomUUID()}`,
    nowMs: () => performance.now(),
    isShared,
    onSilence(isSilent) {
      if (isSilent) log.warn("the service's main process does not answer; this process goes on by itself");
      else log.info("the service's main process answers again");
    },
  });
  hub.start();
  return hub;
};

/** How long reasoning is kept for other processes and restarts, in milliseconds. */
const reasoningMs = 86_400_000;

/** With keys, all is sealed, since it is kept on disk. */
const sharedTexts = (hub: Hub, keys: readonly Buffer[], { isShared }: Pick<Peers, 'isShared'>): SharedTexts => {
  const sealer = createSealer(keys);
  return { ...textsOver(hub, sealer), isOpen: () => keys.length > 0 || isShared() };
};

const textsOver = (hub: Hub, sealer: Sealer): Omit<SharedTexts, 'isOpen'> => ({
  put(plainName, text) {
    const { name, value } = sealer.seal(plainName, text);
    hub.putBlob(name, value, reasoningMs);
  },
  async read(names) {
    const lookups = names.map((name) => sealer.lookups(name));
    const values = await hub.readBlobs(lookups.flatMap((keys) => keys.map(({ name }) => name)));
    if (!values) return undefined;
    let next = 0;
    return lookups.map((keys) => {
      const opened = keys.map(({ open }) => {
        const value = values[next] ?? null;
        next += 1;
        return value === null ? undefined : open(value);
      });
      return opened.find((text) => text !== undefined);
    });
  },
});

/** The secrets that logs and history mask. */
class MaskedSecrets {
  #all: readonly string[] = [];

  /** A new array after each change. */
  get all(): readonly string[] {
    return this.#all;
  }

  /** Masks the secrets of these configurations alone. */
  reset(...configs: readonly Config[]): void {
    this.#all = configs.flatMap(secretsOf);
  }

  /** Masks the secrets of another configuration too. */
  add(config: Config): void {
    this.#all = [...new Set([...this.#all, ...secretsOf(config)])];
  }
}
