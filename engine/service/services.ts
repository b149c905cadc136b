import type { Config } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import { keepAliveMs } from '../config/schema.ts';
import type { Logs } from '../log/logs.ts';
import { openLogs } from '../log/open-logs.ts';
import { createLossCounter } from '../observe/losses.ts';
import type { LossSeries } from '../observer.ts';
import { createSignatureCache } from '../reasoning/signature-cache.ts';
import { type GatewayOptions, secretsOf } from '../routing/gateway.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { CountingThread } from '../routing/tokens/counting-thread.ts';
import { createPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { createUpstreamHealth, steadyNowMs } from '../upstream/health/health.ts';
import { type Demo, startDemo } from './demo/demo-server.ts';

/** What the services are opened with. */
export interface ServicesOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders besides `home` from which custom transformers may be loaded. */
  readonly transformerFolders?: readonly string[];
  /** Prints a line for the user who started the service. */
  readonly report: (line: string) => void;
  /** The clock of breakers and cooldowns, in milliseconds since 1970; absent: one that never goes back. */
  readonly healthNowMs?: () => number;
}

/** What outlives each gateway of a process. */
export interface ProcessServices {
  readonly logs: Logs;
  readonly secrets: MaskedSecrets;
  /** Losses per field since the start. */
  readonly losses: () => readonly LossSeries[];
  readonly gatewayOptions: GatewayOptions;
  readonly close: () => Promise<void>;
}

/** Opens the services of a process that starts with `config`. */
export const openServices = (
  { env, home, transformerFolders = [], report, healthNowMs = steadyNowMs }: ServicesOptions,
  registry: Omit<TransformerRegistry, 'custom'>,
  config: Config,
): ProcessServices => {
  const secrets = new MaskedSecrets();
  secrets.reset(config);
  const logs = openLogs({
    home,
    enabled: config.log,
    level: config.logLevel,
    onTrouble: report,
    secrets: () => secrets.all,
  });
  const losses = createLossCounter();
  const counting = new CountingThread();
  let demo: Promise<Demo> | undefined;
  return {
    logs,
    secrets,
    losses: losses.series,
    gatewayOptions: {
      env,
      home,
      host: config.host,
      transformerFolders,
      registry,
      services: {
        tokens: createPromptTokens(counting),
        log: logs.app,
        signatures: createSignatureCache(),
        losses,
        health: createUpstreamHealth({ nowMs: healthNowMs, random: Math.random }),
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
      await logs.close();
    },
  };
};

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
