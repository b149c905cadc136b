import { olderRouters } from '../../protocols/index.ts';
import { defaultFormat, formats, shipped, stages } from '../../transformers/index.ts';
import type { Config } from '../config/config.ts';
import { loadRouter } from '../config/custom/load-router.ts';
import { loadStages } from '../config/custom/load-stages.ts';
import { type Findings, type Inspect, withInspected } from '../config/judge.ts';
import { presetFindings } from '../config/presets/preset-findings.ts';
import { shownFindings } from '../config/secrets.ts';
import { hasUsdBudget } from '../config/sections/clients.ts';
import { validateConfig } from '../config/validate.ts';
import { readJournal } from '../hub/blob-journal.ts';
import type { JsonObject } from '../model/json/json.ts';
import { createCatalogue } from '../routing/catalogue/catalogue.ts';
import type { Gateway } from '../routing/gateway.ts';
import { inspectBuilt, inspectDraft } from '../routing/inspect.ts';
import { TaughtMemory, taughtFile } from '../routing/taught.ts';
import { dryGateway } from '../trial/dry-gateway.ts';
import { maskedKeys } from '../upstream/keys/command-keys.ts';
import type { Cli } from './cli.ts';
import { type Leave, leaveOf } from './leave.ts';

/** A configuration compiled for inspection; it sends nothing upstream. */
interface OfflineGateway {
  readonly gateway: Gateway;
  /** Faults and warnings that need the transformer registry. */
  readonly checked: Findings;
}

/** Compiles a configuration as the service would, custom transformers included. */
export const offlineGateway = async (config: Config, home: string, leave: Leave): Promise<OfflineGateway> => {
  const { transformerFolders: allowed, keyCommands } = leaveOf(leave);
  const custom = await loadStages(config.transformers, { home, allowed }, shipped);
  const router = await loadRouter(config.router.module, { home, allowed });
  const catalogue = createCatalogue(home);
  await catalogue.reload();
  if (hasUsdBudget(config)) await catalogue.loadPrices();
  const services = { catalogue, commandKeys: maskedKeys(keyCommands), taught: taughtIn(home) };
  const gateway = dryGateway(config, { custom, router }, services);
  return { gateway, checked: inspectBuilt(config, gateway) };
};

/** Lessons from refusals, of the service of a folder. */
const taughtIn = (home: string): TaughtMemory =>
  new TaughtMemory(Date.now, {
    publish: () => undefined,
    onEntry(listener) {
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
    registry: { formats, stages, shipped, defaultFormat, olderRouters },
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
