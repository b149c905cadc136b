import type { Config, Provider, TransformerEntry } from '../config/config.ts';
import type { Fault } from '../model/fault.ts';
import type { ClientProtocol, UpstreamProtocol } from '../model/protocol.ts';
import type { SchemaFault } from '../model/schema.ts';
import type { Format, Target } from '../model/transformer.ts';
import { buildGraph, type Graph } from './build-graph.ts';
import { buildStages } from './build-stages.ts';
import { chooseFormat, type FormatChoice } from './choose-format.ts';
import type { Tables } from './tables.ts';

/** The two ends of a line. */
export interface Ends {
  readonly client: ClientProtocol;
  readonly provider: Provider;
  /** The upstream's name of the model. */
  readonly model: string;
}

/** The way from clients of one protocol to one provider's model and back, compiled from the configuration. */
export interface Line extends Ends {
  readonly choice: FormatChoice;
  readonly format: Format;
  /** The provider, and what the configuration says of its format. */
  readonly target: Target;
  readonly upstream: UpstreamProtocol;
  /** Each step with what does its work. */
  readonly graph: Graph;
  /** Why nothing can go this way, where that is so. */
  readonly fault: Fault | undefined;
}

/** Compiles the line between two ends from the configuration's transformer entries. */
export const buildLine = (config: Config, tables: Tables, ends: Ends): Line => {
  const { provider } = ends;
  const entries = config.transformers.filter((entry) => applies(entry, ends));
  const choice = chooseFormat(entries, tables, provider);
  const { format } = choice;
  const given = { baseUrl: provider.baseUrl, options: choice.options };
  const misfit = format.optionsReader.faults(given.options, 'options')[0];
  const target = misfit ? { ...given, options: {} } : given;
  const upstream = format.protocol(target);
  const { stages, fault } = buildStages(entries, tables);
  return {
    ...ends,
    choice,
    format,
    target,
    upstream,
    graph: buildGraph({ ...ends, provider: provider.name, choice, target, upstream, stages }),
    fault: fault ?? unsetFault(provider) ?? (misfit && misfitFault(format, misfit)),
  };
};

const applies = (entry: TransformerEntry, { provider, model }: Ends): boolean =>
  (entry.provider === undefined || entry.provider === provider.name) &&
  (entry.models === undefined || entry.models.includes(model));

const misfitFault = ({ name }: Format, { path, message }: SchemaFault): Fault => ({
  kind: 'misconfigured',
  message: `The format "${name}" can't be used: ${path} ${message}.`,
});

const unsetFault = (provider: Provider): Fault | undefined =>
  provider.unset.length === 0
    ? undefined
    : {
        kind: 'misconfigured',
        message: `Provider "${provider.name}" can't be used: environment variable ${provider.unset.join(', ')} is not set.`,
      };
