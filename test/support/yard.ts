import type { ExecutionContext } from 'ava';
import type { Config } from '../../engine/config/config.ts';
import { validateConfig } from '../../engine/config/validate.ts';
import { quietLogs } from '../../engine/log/quiet-logs.ts';
import { createLossCounter } from '../../engine/loss-counter.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import { steadyNowMs } from '../../engine/retry/steady-clock.ts';
import { createUpstreamHealth } from '../../engine/retry/upstream-health.ts';
import { createSignatureMemory } from '../../engine/signatures/memory.ts';
import { countedHere } from '../../engine/tokens/prompt-tokens.ts';
import { createTokenCounter } from '../../engine/tokens/token-counter.ts';
import { createUpstreams } from '../../engine/upstream/create-upstreams.ts';
import { buildYard, type Edges, type Yard } from '../../engine/yard/yard.ts';
import { formats, plainFormat, stages } from '../../transformers/index.ts';

/** The configuration that this text comes to. */
export const configOf = (written: JsonObject): Config => {
  const result = validateConfig(written, {});
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.config;
};

const { count } = createTokenCounter();

/** A yard with the built-in transformers, whose connections are closed when the test ends. */
export const yardOf = (t: ExecutionContext, config: Config, over: Partial<Edges> = {}): Yard => {
  const upstreams = createUpstreams({ ...config.timeouts, connections: 16, queue: 16, environment: {} });
  t.teardown(() => upstreams.close());
  return buildYard(
    config,
    { formats, stages, plainFormat, custom: new Map() },
    {
      upstreams,
      tokens: countedHere(count),
      log: quietLogs.app,
      signatures: createSignatureMemory(),
      losses: createLossCounter(),
      health: createUpstreamHealth({ nowMs: steadyNowMs, random: Math.random }),
      keepAliveMs: 15_000,
      ...over,
    },
  );
};
