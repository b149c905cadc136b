import type { Config, RouterModule, TransformerEntry } from '../config/config.ts';
import { loadRouter } from '../config/custom/load-router.ts';
import { loadStages } from '../config/custom/load-stages.ts';
import type { Findings } from '../config/judge.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import { modelFindings } from './model-findings.ts';
import { validateEntries } from './plan/build-stages.ts';
import type { TransformerRegistry } from './plan/choose-format.ts';
import { socketFaults } from './plan/plan.ts';

/** Whether an entry's unusable module is a warning only. */
type Tolerates = (entry: TransformerEntry | RouterModule) => boolean;

/** Findings from building a configuration's gateway. */
export const inspectBuilt = (
  config: Config,
  gateway: Pick<Gateway, 'registry'> & Parameters<typeof modelFindings>[0],
  tolerates?: Tolerates,
): Findings => {
  const { faults, warnings } = validateEntries(config, gateway.registry, tolerates);
  return {
    faults: [...faults, ...socketFaults(config, gateway.registry)],
    warnings: [...warnings, ...modelFindings(gateway, Date.now())],
  };
};

/** The same of a configuration that has faults already, so that no gateway can be built. Loads its modules. */
export const inspectDraft = async (
  draft: Config,
  source: JsonObject,
  { home, transformerFolders, registry }: Pick<GatewayOptions, 'home' | 'transformerFolders' | 'registry'>,
  tolerates?: Tolerates,
): Promise<Findings> => {
  const places = { home, allowed: transformerFolders };
  const custom = await loadStages(draft.transformers, places, registry.shipped);
  const router = await loadRouter(draft.router.module, places);
  const loaded: TransformerRegistry = { ...registry, custom, router };
  const { faults, warnings } = validateEntries(draft, loaded, tolerates);
  const rows = Array.isArray(source.Providers) ? source.Providers.length : 0;
  // Paths count providers by their place, which is known only if none was left out.
  const sockets = draft.providers.length === rows ? socketFaults(draft, loaded) : [];
  return { faults: [...faults, ...sockets], warnings };
};
