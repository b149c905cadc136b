import type { ExecutionContext } from 'ava';
import type { Config } from '../../engine/config/config.ts';
import { validateConfig } from '../../engine/config/validate.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Gateway, Services } from '../../engine/routing/gateway.ts';
import { createTokenCounter } from '../../engine/routing/tokens/encoder.ts';
import { synchronousPromptTokens } from '../../engine/routing/tokens/prompt-tokens.ts';
import { dryGateway } from '../../engine/trial/dry-gateway.ts';
import { createUpstreams } from '../../engine/upstream/create-upstreams.ts';

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
    connectionsPerProvider: 16,
    queuePerProvider: 16,
    decompressedReplyBytes: 1 << 26,
    environment: {},
  });
  t.teardown(() => upstreams.close());
  return dryGateway(
    config,
    { custom: new Map() },
    { upstreams, tokens: synchronousPromptTokens(count), keepAliveMs: 15_000, hop: () => 'this-gateway', ...over },
  );
};
