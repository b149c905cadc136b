import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config/config.ts';
import type { Environment } from './config/interpolate.ts';
import { keyInUse } from './config/key-in-use.ts';
import { loadStages } from './custom/load-stages.ts';
import type { Upstreams } from './upstream/call.ts';
import { createUpstreams } from './upstream/create-upstreams.ts';
import type { Tables } from './yard/tables.ts';
import { buildYard, type Edges, type Yard } from './yard/yard.ts';

/** A configuration at work. */
export interface InUse {
  readonly config: Config;
  readonly tables: Tables;
  readonly upstreams: Upstreams;
  readonly yard: Yard;
  /** The key that clients must send. */
  readonly apiKey: string | undefined;
}

/** What putting a configuration to work needs, whatever it says. */
export interface SetUpOptions {
  readonly env: Environment;
  /** The configuration's folder. */
  readonly home: string;
  /** Folders beside it from which custom transformers may be loaded. */
  readonly transformerFolders: readonly string[];
  readonly tables: Omit<Tables, 'custom'>;
  readonly edges: Omit<Edges, 'upstreams'>;
}

/**
 * Loads and builds all that a configuration needs, without touching what is in use: `before`, whose connections it takes over as
 * long as the waiting times and the room for them stay the same. `host` is where the port was opened, which only a restart changes.
 */
export const setUp = async (
  { env, home, transformerFolders, tables, edges }: SetUpOptions,
  config: Config,
  host: string,
  before?: InUse,
): Promise<InUse> => {
  const custom = await loadStages(config.transformers, { home, allowed: transformerFolders });
  const all = { ...tables, custom };
  const upstreams =
    before && isDeepStrictEqual(boundsOf(before.config), boundsOf(config))
      ? before.upstreams
      : createUpstreams({ ...boundsOf(config), environment: env });
  return {
    config,
    tables: all,
    upstreams,
    yard: buildYard(config, all, { ...edges, upstreams }),
    apiKey: keyInUse(host, before?.apiKey, config),
  };
};

const boundsOf = ({ timeouts, limits }: Config) => ({
  ...timeouts,
  connections: limits.connectionsPerProvider,
  queue: limits.queuePerProvider,
});

/** Every secret of a configuration, to be kept out of the logs. */
export const secretsOf = ({ apiKey, providers }: Config): readonly string[] =>
  [apiKey ?? '', ...providers.flatMap((provider) => provider.apiKeys)].filter((secret) => secret !== '');
