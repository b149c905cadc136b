import type { Provider, TransformerEntry } from '../../config/config.ts';
import type { LoadedRouter } from '../../config/custom/load-router.ts';
import type { LoadedStages } from '../../config/custom/load-stages.ts';
import type { UpstreamProtocol } from '../../model/protocol.ts';
import type { Format, FormatReason, Transformer } from '../../model/transformer.ts';

/** The format of a provider's model, and why it was chosen. */
export interface FormatChoice {
  readonly format: Format;
  readonly options: TransformerEntry['options'];
  readonly because: FormatReason;
  /** The entry's path in the configuration. */
  readonly entry: string | undefined;
}

/**
 * The format of the most specific entry that applies, else the one that the end of the base URL's path shows, else the host's, else
 * the default. A host may serve several formats, each below a path of its own, or for models of its own.
 */
export const chooseFormat = (
  entries: readonly TransformerEntry[],
  registry: TransformerRegistry,
  { baseUrl }: Provider,
  model: string,
): FormatChoice => {
  const entry = mostSpecific(entries.filter(({ path, name }) => path === undefined && registry.formats.has(name)));
  const named = entry && registry.formats.get(entry.name);
  if (named) return { format: named, options: entry.options, because: 'entry', entry: entry.at };
  const formats = [...registry.formats.values()];
  const own = formats.find(
    ({ hosts, serves }) => hosts.some((host) => isAt(baseUrl, host)) || serves?.(baseUrl, model),
  );
  const path = baseUrl.pathname.replace(/\/$/, '');
  const shown = formats.find(({ pathEnds = [] }) => pathEnds.some((end) => path.endsWith(end)));
  // A vendor's own endpoint may have the path of another format.
  if (own && (!shown || shown === own || path.endsWith(endpointOf(own)))) {
    return { ...noEntry, format: own, because: 'host' };
  }
  if (shown) return { ...noEntry, format: shown, because: 'path' };
  const plain = registry.formats.get(registry.defaultFormat);
  if (!plain) throw new Error(`the plain format "${registry.defaultFormat}" is missing`);
  return { ...noEntry, format: plain, because: 'plain' };
};

/** The path of a format's calls without its version. */
const endpointOf = ({ path }: Format): string => path.replace(/^\/v\d+(?=\/)/, '');

const noEntry = { options: {}, entry: undefined };

const isAt = ({ hostname }: URL, host: string): boolean => hostname === host || hostname.endsWith(`.${host}`);

/** Precedence: provider and models, models, provider, global. The last of equals wins. */
const mostSpecific = (entries: readonly TransformerEntry[]): TransformerEntry | undefined =>
  entries.reduce<TransformerEntry | undefined>(
    (best, entry) => (best === undefined || rank(entry) >= rank(best) ? entry : best),
    undefined,
  );

const rank = ({ provider, models }: TransformerEntry): number =>
  (provider === undefined ? 0 : 1) + (models === undefined ? 0 : 2);

/** All available transformers. */
export interface TransformerRegistry {
  readonly formats: ReadonlyMap<string, Format>;
  readonly stages: ReadonlyMap<string, Transformer>;
  /** The name of the format used if nothing else decides. */
  readonly defaultFormat: string;
  /** Stages of the package that are loaded as modules of users are; absent: none. */
  readonly shipped?: readonly string[];
  /** The stages loaded from the configured modules, or their problems. */
  readonly custom: LoadedStages;
  /** The router module, or its problem; absent: none is configured. */
  readonly router?: LoadedRouter | undefined;
  /** The form of the requests that router modules of the older form take; absent: they get an empty body. */
  readonly olderRouters?: Pick<UpstreamProtocol, 'wire' | 'encodeRequest'>;
}
