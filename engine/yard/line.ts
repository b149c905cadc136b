import type { Config, Provider, TransformerEntry } from '../config/config.ts';
import { type Fault, faultOf } from '../model/fault.ts';
import type { UpstreamProtocol } from '../model/protocol.ts';
import type { Format, Stage, Transformer } from '../model/transformer.ts';

/** All the transformers there are, by name. */
export interface Tables {
  readonly formats: ReadonlyMap<string, Format>;
  readonly stages: ReadonlyMap<string, Transformer>;
  /** The name of the format that is spoken when nothing says otherwise. */
  readonly plainFormat: string;
}

/** The way to one provider's model: what it speaks, and the stages before and behind it. */
export interface Line {
  readonly format: Format;
  readonly upstream: UpstreamProtocol;
  /** In the order of the request; the answer meets them in reverse. */
  readonly stages: readonly Stage[];
  /** Why nothing can go this way, where that is so. */
  readonly fault: Fault | undefined;
}

/** The line of a model, from the configuration's transformer entries. */
export const buildLine = (config: Config, tables: Tables, provider: Provider, model: string): Line => {
  const entries = config.transformers.filter((entry) => applies(entry, provider, model));
  const formatEntry = mostSpecific(
    entries.filter((entry) => entry.path === undefined && tables.formats.has(entry.name)),
  );
  const format = formatByName(tables, formatEntry?.name) ?? inferFormat(tables, provider.baseUrl);
  const stages: Stage[] = [];
  let fault: Fault | undefined;
  for (const entry of entries) {
    if (tables.formats.has(entry.name)) continue;
    try {
      stages.push(buildStage(entry, tables));
    } catch (error) {
      fault ??= {
        kind: 'stage-failed',
        message: `Transformer "${entry.name}" can't be used: ${faultOf(error).message}`,
      };
    }
  }
  const upstream = format.protocol({ baseUrl: provider.baseUrl, options: formatEntry?.options ?? {} });
  return { format, upstream, stages, fault: fault ?? unsetFault(provider) };
};

const buildStage = (entry: TransformerEntry, tables: Tables): Stage => {
  const transformer = entry.path === undefined ? tables.stages.get(entry.name) : undefined;
  if (!transformer) throw new Error(`no transformer of the name "${entry.name}" is loaded`);
  return transformer.configure(entry.options);
};

const applies = (entry: TransformerEntry, provider: Provider, model: string): boolean =>
  (entry.provider === undefined || entry.provider === provider.name) &&
  (entry.models === undefined || entry.models.includes(model));

/** Provider and models before provider before global; the last of equals. */
const mostSpecific = (entries: readonly TransformerEntry[]): TransformerEntry | undefined =>
  entries.reduce<TransformerEntry | undefined>(
    (best, entry) => (best === undefined || rank(entry) >= rank(best) ? entry : best),
    undefined,
  );

const rank = (entry: TransformerEntry): number =>
  (entry.provider === undefined ? 0 : 1) + (entry.models === undefined ? 0 : 2);

const formatByName = (tables: Tables, name: string | undefined): Format | undefined =>
  name === undefined ? undefined : tables.formats.get(name);

const inferFormat = (tables: Tables, baseUrl: URL): Format => {
  const host = baseUrl.hostname;
  for (const format of tables.formats.values()) {
    if (format.hosts.some((known) => host === known || host.endsWith(`.${known}`))) return format;
  }
  const plain = tables.formats.get(tables.plainFormat);
  if (!plain) throw new Error(`the plain format "${tables.plainFormat}" is missing`);
  return plain;
};

const unsetFault = (provider: Provider): Fault | undefined =>
  provider.unset.length === 0
    ? undefined
    : {
        kind: 'misconfigured',
        message: `Provider "${provider.name}" can't be used: environment variable ${provider.unset.join(', ')} is not set.`,
      };
