import { dirname, resolve } from 'node:path';
import { defaultFormat, formats, stages } from '../../../transformers/index.ts';
import type { Config } from '../../config/config.ts';
import { findProvider } from '../../config/sections/destination.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import { formatOf } from '../../routing/plan/plan.ts';
import type { Lane, LaneGroup } from '../lane.ts';
import { type ClientWire, clientWires, type Wire, wires } from '../wire.ts';
import { junctorConfigured } from './junctor.ts';
import type { Target } from './target.ts';

/** A user's configuration, which has no faults. */
export interface Configured {
  /** Absolute path of the file. */
  readonly file: string;
  readonly source: JsonObject;
  readonly config: Config;
  /** Folders, besides the file's, from which its transformers may be loaded. */
  readonly folders: readonly string[];
  /** The variables that it refers to, as far as they are set. */
  readonly env: Readonly<Record<string, string>>;
}

/** The same configuration with a key that needs no variable and no command, so that its other faults are judged without them. */
export const withoutKeys = (source: JsonObject): JsonObject => ({
  ...source,
  ...(Array.isArray(source.Providers) && {
    Providers: source.Providers.map((provider): Json => {
      if (!isJsonObject(provider)) return provider;
      const { credentials: _, ...rest } = provider;
      return { ...rest, ...('api_key' in rest ? { api_key: 'bench' } : { apiKey: 'bench' }) };
    }),
  }),
});

/** A gateway with this configuration, except that simulated vendors take the place of all providers, and no client needs a key. */
export const configuredTarget = (name: string, configured: Configured, more: readonly JsonObject[] = []): Target =>
  junctorConfigured(
    name,
    (upstreamUrl) => rewritten(configured, new URL(upstreamUrl), more),
    [dirname(configured.file), ...configured.folders],
    configured.env,
  );

const rewritten = ({ file, source, config }: Configured, upstream: URL, more: readonly JsonObject[]): JsonObject => {
  const { APIKEY: _, CLIENTS: __, FLEET: ___, TELEMETRY: ____, HOST: _____, Providers, Router, ...rest } = source;
  const home = dirname(file);
  const entries = Array.isArray(rest.transformers) ? rest.transformers : [];
  return {
    ...rest,
    PORT: 0,
    ...(isJsonObject(Router) && { Router: routerFrom(Router, home) }),
    Providers: (Array.isArray(Providers) ? Providers : []).flatMap((written) => {
      const provider = isJsonObject(written) && findProvider(config.providers, String(written.name));
      if (!isJsonObject(written) || !provider) return [];
      const {
        api_key: _,
        api_base_url: __,
        otherBaseUrls: ___,
        credentials: ____,
        webSocket: _____,
        ...kept
      } = written;
      const baseUrl = `${upstream.origin}${provider.baseUrl.pathname}`;
      return { ...kept, baseUrl, apiKey: 'bench' };
    }),
    transformers: [
      // The format that the vendor's host shows.
      ...config.providers.flatMap((provider) => {
        const { format, because } = formatOf(config, registry, { provider, model: provider.models[0] ?? '' });
        return because === 'host' ? [{ name: format.name, provider: provider.name }] : [];
      }),
      ...entries.map((entry) => (isJsonObject(entry) ? withPath(entry, home) : entry)),
      ...more,
    ],
  };
};

const registry = { formats, stages, defaultFormat, custom: new Map() };

const withPath = (entry: JsonObject, home: string): JsonObject =>
  typeof entry.path === 'string' ? { ...entry, path: resolve(home, entry.path) } : entry;

const routerFrom = (router: JsonObject, home: string): JsonObject => {
  const { module } = router;
  if (typeof module === 'string' && module.trim() !== '') return { ...router, module: resolve(home, module) };
  return isJsonObject(module) ? { ...router, module: withPath(module, home) } : router;
};

/** The wire format of the provider's first model; `undefined`: no simulated vendor speaks it. */
const wireOf = (config: Config, provider: Config['providers'][number]): Wire | undefined => {
  const model = provider.models[0] ?? '';
  const { format, options } = formatOf(config, registry, { provider, model });
  const { wire } = format.protocol({ baseUrl: provider.baseUrl, options, model, relays: undefined });
  return wires.find((each) => each === wire);
};

/** A lane from each client protocol to each provider that has a model. */
export const configuredLanes = (
  { config }: Configured,
  clients: readonly string[] = clientWires,
): readonly LaneGroup[] => {
  const lanes = config.providers.flatMap((provider) => {
    const upstream = wireOf(config, provider);
    const [model] = provider.models;
    if (upstream === undefined || model === undefined) return [];
    return clientWires
      .filter((client) => clients.includes(client))
      .map((client) => configuredLane(client, upstream, `${provider.name},${model}`));
  });
  if (lanes.length === 0) throw new Error('The configuration has no provider with a model.');
  return [{ upstream: lanes[0]?.pair.upstream ?? 'chat', lanes }];
};

const configuredLane = (client: ClientWire, upstream: Wire, model: string): Lane => {
  const name = `${client}→${model}`;
  return { name, pair: { name, client, upstream }, webSocket: false, model };
};
