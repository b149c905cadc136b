import { throwError } from 'rxjs';
import { olderRouters } from '../../protocols/index.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { SessionSpending } from '../config/custom/session-spending.ts';
import { StageMemories } from '../config/custom/stage-memory.ts';
import { quietLogs } from '../observe/log/logs.ts';
import { createLossCounter } from '../observe/loss-counter.ts';
import { createCatalogue } from '../routing/catalogue/catalogue.ts';
import { compileGateway, type Gateway, type Services } from '../routing/gateway.ts';
import { MissingCapabilities } from '../routing/missing.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { createSignatureCache } from '../routing/reasoning/signature-cache.ts';
import { TaughtMemory } from '../routing/taught.ts';
import { createTokenCounter } from '../routing/tokens/encoder.ts';
import { synchronousPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { createUpstreamHealth } from '../upstream/health/health.ts';
import { maskedKeys } from '../upstream/keys/command-keys.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

/** The modules of the configuration, loaded. */
type Modules = Pick<TransformerRegistry, 'custom' | 'router'>;

/** The longest time that a timer takes, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/** A configuration compiled without a service: it logs and counts nothing, and without other upstreams it sends nothing. */
export const dryGateway = (config: Config, modules: Modules, services: Partial<Services> = {}): Gateway =>
  compileGateway(
    config,
    { formats, stages, defaultFormat, olderRouters, ...modules },
    {
      upstreams: silent,
      commandKeys: maskedKeys(),
      tokens: synchronousPromptTokens(createTokenCounter().count),
      log: quietLogs.app,
      signatures: createSignatureCache(),
      losses: createLossCounter(),
      catalogue: createCatalogue(undefined),
      taught: new TaughtMemory(),
      missing: new MissingCapabilities(steadyClock.nowMs),
      health: createUpstreamHealth({ nowMs: steadyClock.nowMs, random: Math.random }),
      hop: () => '',
      stageMemories: new StageMemories(),
      spending: new SessionSpending(),
      keepAliveMs: longestTimerMs,
      ...services,
    },
  );

/** Upstreams that nothing is sent to. */
export const silent: Upstreams = {
  call: () => throwError(() => new Error('Nothing is sent.')),
  adjust: () => undefined,
  closeIdleSockets: () => undefined,
  poolStats: () => ({ inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 }),
  close: async () => undefined,
};
