import { throwError } from 'rxjs';
import { formats, plainFormat, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import { loadStages } from '../custom/load-stages.ts';
import { quietLogs } from '../log/quiet-logs.ts';
import { createLossCounter } from '../loss-counter.ts';
import { steadyNowMs } from '../retry/steady-clock.ts';
import { createUpstreamHealth } from '../retry/upstream-health.ts';
import { createSignatureMemory } from '../signatures/memory.ts';
import { countedHere } from '../tokens/prompt-tokens.ts';
import { createTokenCounter } from '../tokens/token-counter.ts';
import { checkEntries } from '../yard/check-entries.ts';
import type { Tables } from '../yard/tables.ts';
import { buildYard, type Yard } from '../yard/yard.ts';

/** A configuration compiled for questions: it calls nobody. */
export interface DryYard {
  readonly yard: Yard;
  /** What only the tables of transformers can tell. */
  readonly findings: readonly Finding[];
}

/** Compiles a configuration as the service would, custom transformers included. */
export const dryYard = async (config: Config, home: string, allowed: readonly string[]): Promise<DryYard> => {
  const custom = await loadStages(config.transformers, { home, allowed });
  const tables: Tables = { formats, stages, plainFormat, custom };
  const yard = buildYard(config, tables, {
    upstreams: {
      call: () => throwError(() => new Error('Nothing is sent.')),
      occupancyOf: () => ({ inUse: 0, idle: 0, waiting: 0, refused: 0 }),
      close: async () => undefined,
    },
    tokens: countedHere(createTokenCounter().count),
    log: quietLogs.app,
    signatures: createSignatureMemory(),
    losses: createLossCounter(),
    health: createUpstreamHealth({ nowMs: steadyNowMs, random: Math.random }),
    keepAliveMs: Number.POSITIVE_INFINITY,
  });
  return { yard, findings: checkEntries(config, tables) };
};
