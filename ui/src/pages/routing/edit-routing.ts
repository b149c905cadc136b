import type { ConfigFile, PoolFile, TransformerEntry } from '../../api/config/config-file.ts';
import type { JsonObject } from '../../api/json.ts';
import { ownRulesOf } from '../../config/conditions.ts';
import { withMember } from '../../config/fields/field-path.ts';

/**
 * The lists of the routing. What is edited of a preset begins as what it inherits; an emptied list stays in it, since without one it
 * would inherit again.
 */
export interface RoutingLists {
  readonly rules: readonly JsonObject[];
  readonly pools: readonly PoolFile[];
  readonly stages: readonly TransformerEntry[];
}

/** The lists of a configuration. */
export const listsOf = (config: ConfigFile): RoutingLists => ({
  rules: ownRulesOf(config),
  pools: config.Pools ?? [],
  stages: config.transformers ?? [],
});

/** Replaces one of the lists. */
export const withList = <Name extends keyof RoutingLists>(
  config: ConfigFile,
  name: Name,
  list: RoutingLists[Name],
  inherited: ConfigFile | undefined,
): ConfigFile => {
  const keeps = list.length > 0 || (inherited !== undefined && listsOf(inherited)[name].length > 0);
  const value = keeps ? list : undefined;
  switch (name) {
    case 'rules':
      return { ...config, Router: withMember(config.Router ?? {}, 'rules', value) };
    case 'pools':
      return withMember(config, 'Pools', value);
    default:
      return withMember(config, 'transformers', value);
  }
};

/** The node on which a field of the configuration is edited. */
export const nodeOfField = (path: string): string | undefined => {
  const [, list = '', at = ''] = /^(Router\.rules|Pools|transformers)\[(\d+)\]/.exec(path) ?? [];
  if (list === 'Router.rules') return `rule/${at}`;
  if (list === 'Pools') return `pool/${at}`;
  if (path.startsWith('transformers')) return 'stages';
  if (path.startsWith('Router.module')) return 'module';
  if (path === 'Router.compactPrompt') return 'scenario/compact';
  if (path === 'Router.longContextThreshold') return 'scenario/longContext';
  const [, scenario] = /^(?:Router\.(?:routes\.|fallback\.)?|fallback\.)(\w+)/.exec(path) ?? [];
  return scenario === undefined || scenario === 'routes' || scenario === 'rules' ? undefined : `scenario/${scenario}`;
};
