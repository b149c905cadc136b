import { throwError } from 'rxjs';
import { encodeMessagesBody } from '../../protocols/index.ts';
import { defaultFormat, formats, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { loadRouter } from '../config/custom/load-router.ts';
import { loadStages } from '../config/custom/load-stages.ts';
import { SessionSpending } from '../config/custom/session-spending.ts';
import { StageMemories } from '../config/custom/stage-memory.ts';
import { type Findings, type Inspect, withInspected } from '../config/judge.ts';
import { presetFindings } from '../config/presets/preset-findings.ts';
import { shownFindings } from '../config/secrets.ts';
import { hasUsdBudget } from '../config/sections/clients.ts';
import { validateConfig } from '../config/validate.ts';
import { readJournal } from '../hub/blob-journal.ts';
import type { JsonObject } from '../model/json/json.ts';
import { quietLogs } from '../observe/log/logs.ts';
import { createLossCounter } from '../observe/loss-counter.ts';
import { createCatalogue } from '../routing/catalogue/catalogue.ts';
import { compileGateway, type Gateway } from '../routing/gateway.ts';
import { inspectBuilt, inspectDraft } from '../routing/inspect.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { createSignatureCache } from '../routing/reasoning/signature-cache.ts';
import { TaughtMemory, taughtFile } from '../routing/taught.ts';
import { createTokenCounter } from '../routing/tokens/encoder.ts';
import { synchronousPromptTokens } from '../routing/tokens/prompt-tokens.ts';
import { steadyClock } from '../runtime/steady-clock.ts';
import { createUpstreamHealth } from '../upstream/health/health.ts';
import { maskedKeys } from '../upstream/keys/command-keys.ts';
import type { Cli } from './cli.ts';
import { type Leave, leaveOf } from './leave.ts';

/** A configuration compiled for inspection; it sends nothing upstream. */
interface OfflineGateway {
  readonly gateway: Gateway;
  /** Faults and warnings that need the transformer registry. */
  readonly checked: Findings;
}

/** The longest time that a timer takes, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

/** Compiles a configuration as the service would, custom transformers included. */
export const offlineGateway = async (config: Config, home: string, leave: Leave): Promise<OfflineGateway> => {
  const { transformerFolders: allowed, keyCommands } = leaveOf(leave);
  const custom = await loadStages(config.transformers, { home, allowed });
  const router = await loadRouter(config.router.module, { home, allowed });
  const catalogue = createCatalogue(home);
  await catalogue.reload();
  if (hasUsdBudget(config)) await catalogue.loadPrices();
  const modules = { custom, router, messagesBody: encodeMessagesBody };
  const registry: TransformerRegistry = { formats, stages, defaultFormat, ...modules };
  const gateway = compileGateway(config, registry, {
    upstreams: {
      call: () => throwError(() => new Error('Nothing is sent.')),
      adjust: () => undefined,
      closeIdleSockets: () => undefined,
      poolStats: () => ({ inUse: 0, idle: 0, waiting: 0, refused: 0, resent: 0 }),
      close: async () => undefined,
    },
    commandKeys: maskedKeys(keyCommands),
    tokens: synchronousPromptTokens(createTokenCounter().count),
    log: quietLogs.app,
    signatures: createSignatureCache(),
    losses: createLossCounter(),
    catalogue,
    taught: taughtIn(home),
    health: createUpstreamHealth({ nowMs: steadyClock.nowMs, random: Math.random }),
    hop: () => '',
    stageMemories: new StageMemories(),
    spending: new SessionSpending(),
    keepAliveMs: longestTimerMs,
  });
  return { gateway, checked: inspectBuilt(config, gateway) };
};

/** What refusals have taught the service of a folder. */
const taughtIn = (home: string): TaughtMemory =>
  new TaughtMemory(Date.now, {
    publish: () => undefined,
    onFact(listener) {
      for (const { name: id, ...fact } of readJournal(taughtFile(home))) listener({ id, ...fact });
    },
  });

/** Judges a configuration as a service that starts with it would. Loads its modules; builds nothing. */
export const judgeOffline = async (
  source: JsonObject,
  { home, env }: Pick<Cli, 'home' | 'env'>,
  leave: Leave,
): Promise<Findings> => {
  const options = {
    home,
    transformerFolders: leaveOf(leave).transformerFolders,
    registry: { formats, stages, defaultFormat, messagesBody: encodeMessagesBody },
  };
  const inspect: Inspect = (draft, written) => inspectDraft(draft, written, options);
  const result = validateConfig(source, env);
  if ('faults' in result) return withInspected(result, source, env, inspect);
  const { checked } = await offlineGateway(result.config, home, leave);
  return {
    faults: shownFindings(checked.faults, source, env),
    warnings: [
      ...result.warnings,
      ...shownFindings(checked.warnings, source, env),
      ...(await presetFindings(home, source, env, inspect)),
    ],
  };
};
