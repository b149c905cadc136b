import type { ExecutionContext } from 'ava';
import type { Config } from '../../engine/config/config.ts';
import { SessionSpending } from '../../engine/config/custom/session-spending.ts';
import { StageMemories } from '../../engine/config/custom/stage-memory.ts';
import { validateConfig } from '../../engine/config/validate.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { quietLogs } from '../../engine/observe/log/logs.ts';
import { createLossCounter } from '../../engine/observe/loss-counter.ts';
import { createCatalogue } from '../../engine/routing/catalogue/catalogue.ts';
import { compileGateway, type Gateway, type Services } from '../../engine/routing/gateway.ts';
import { createSignatureCache } from '../../engine/routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../../engine/routing/taught.ts';
import { createTokenCounter } from '../../engine/routing/tokens/encoder.ts';
import { synchronousPromptTokens } from '../../engine/routing/tokens/prompt-tokens.ts';
import { steadyClock } from '../../engine/runtime/steady-clock.ts';
import { createUpstreams } from '../../engine/upstream/create-upstreams.ts';
import { createUpstreamHealth } from '../../engine/upstream/health/health.ts';
import { maskedKeys } from '../../engine/upstream/keys/command-keys.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';

/** The configuration in this text. */
export const configOf = (written: JsonObject, env: Readonly<Record<string, string>> = {}): Config => {
  const result = validateConfig(written, env);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.config;
};

const { count } = createTokenCounter();

/** A gateway with the built-in transformers, whose connections are closed when the test ends. */
export const gatewayOf = (t: ExecutionContext, config: Config, over: Partial<Services> = {}): Gateway => {
  const upstreams = createUpstreams({
    ...config.timeouts,
    connections: 16,
    queue: 16,
    decompressedBytes: 1 << 26,
    environment: {},
  });
  t.teardown(() => upstreams.close());
  return compileGateway(
    config,
    { formats, stages, defaultFormat, custom: new Map() },
    {
      upstreams,
      tokens: synchronousPromptTokens(count),
      log: quietLogs.app,
      signatures: createSignatureCache(),
      losses: createLossCounter(),
      catalogue: createCatalogue(undefined),
      taught: new TaughtMemory(),
      health: createUpstreamHealth({ nowMs: steadyClock.nowMs, random: Math.random }),
      keepAliveMs: 15_000,
      commandKeys: maskedKeys(),
      hop: () => 'this-gateway',
      stageMemories: new StageMemories(),
      spending: new SessionSpending(),
      ...over,
    },
  );
};
