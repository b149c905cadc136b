import type { Config, Provider, TransformerEntry } from '../../config/config.ts';
import type { StageDestination } from '../../config/custom/around.ts';
import type { Finding } from '../../config/diagnostics.ts';
import { shownName } from '../../config/env.ts';
import { callExtrasOf } from '../../config/sections/call-extras.ts';
import type { Destination } from '../../config/sections/destination.ts';
import { cloudAt } from '../../model/clouds.ts';
import type { Fault } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Lack, ModelFacts } from '../../model/models/model-facts.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../model/protocol.ts';
import { memberPath, type SchemaFault } from '../../model/schema.ts';
import { type Format, isVendors, type RowUse, type Target } from '../../model/transformer.ts';
import { clientWires } from '../../model/wire/client-wires.ts';
import { isForVerdicts } from '../rules/stage-conditions.ts';
import { buildGraph, type Graph, socketOf } from './build-graph.ts';
import { aroundStageOf, buildStages, conditionOf, requestStageOf } from './build-stages.ts';
import { chooseFormat, type FormatChoice, type TransformerRegistry } from './choose-format.ts';
import { takesWebSearch } from './takes-web-search.ts';

/** Identifies a plan: a client protocol, a provider's model, and the conditions that hold of those that concern it. */
export interface PlanKey {
  readonly client: ClientProtocol;
  readonly provider: Provider;
  /** The upstream's name of the model. */
  readonly model: string;
  /** The positions of the transformers' entries whose conditions hold; absent: as if all did. */
  readonly holding?: ReadonlySet<number> | undefined;
}

/** The plan for requests of one client protocol to one provider's model; compiled from the configuration. */
export interface Plan extends PlanKey {
  /** The names as users see them. */
  readonly shown: { readonly provider: string; readonly model: string };
  readonly choice: FormatChoice;
  readonly format: Format;
  /** The provider with the options of its format. */
  readonly target: Target;
  /** `target`, and one for each of the provider's further base URLs. */
  readonly targets: readonly Target[];
  readonly upstream: UpstreamProtocol;
  /** The rows of the format's tables that apply to the provider and the model. */
  readonly rows: readonly RowUse[];
  /** JSON Merge Patches of the upstream's request body. */
  readonly patches: readonly JsonObject[];
  /** The plan as stages see it. */
  readonly destination: StageDestination;
  /** A stage is for requests whose calls are to be judged. */
  readonly judges: boolean;
  /** Tokens that a prompt may have; `undefined`: unknown. */
  readonly window: number | undefined;
  /** Tokens that prompt and answer may have together; `undefined`: unknown. */
  readonly total: number | undefined;
  /** Capabilities that the model is known to lack. */
  readonly lacks: readonly Lack[];
  /** Calls are signed, if the key is one for signatures. */
  readonly maySign: boolean;
  /** The socket protocol of streamed calls; `undefined`: they use HTTP. */
  readonly socket: UpstreamProtocol['socket'];
  /** The steps and the functions that perform them. */
  readonly graph: Graph;
  /** Present if the plan can't be used. */
  readonly fault: Fault | undefined;
}

/** The facts about a model that its plan depends on. */
interface ModelLimits {
  /** Tokens that an answer may have, where the configuration or the vendor's list says so. */
  readonly maxOutput?: number | undefined;
  /** Tokens that a prompt may have. */
  readonly window?: number | undefined;
  /** Tokens that prompt and answer may have together. */
  readonly total?: number | undefined;
  readonly lacks?: readonly Lack[] | undefined;
  /** Input kinds that the model is known to accept. */
  readonly input?: ModelFacts['input'];
}

/** Compiles the plan for a key from the configuration's transformer entries. */
export const compilePlan = (
  config: Config,
  registry: TransformerRegistry,
  key: PlanKey,
  { maxOutput, window, total, lacks = [], input }: ModelLimits = {},
): Plan => {
  const { client, provider, model } = key;
  const entries = config.transformers.filter((entry) => applies(entry, key));
  const choice = chooseFormat(entries, registry, provider, model);
  const { format } = choice;
  const extras = callExtrasOf(provider, model);
  const misfit = format.optionsReader.faults(choice.options, 'options')[0];
  const unstaged = {
    baseUrl: withQuery(provider.baseUrl, extras.query),
    options: misfit ? {} : choice.options,
    model,
    relays: undefined,
    maxOutput,
  };
  const asked = format.protocol(unstaged);
  const destination = {
    provider: provider.name,
    model,
    format: format.name,
    isVendor: isVendors(choice.because),
    isClientsVendor: client.attribution !== undefined && asked.readsAttribution === true,
    webSearch: takesWebSearch(asked, model),
    // Anything that the format refuses is lacking, whatever the other sources claim.
    input: (asked.readsImages?.(model) ?? true) ? input : (input ?? ['text']).filter((kind) => kind !== 'image'),
    window,
  };
  const { stages, fault } = buildStages(
    config.transformers,
    (entry, position) =>
      applies(entry, key) && (!key.holding || key.holding.has(position) || !conditionOf(entry, registry)),
    registry,
    destination,
  );
  const relays = stages.some((placed) => requestStageOf(placed) ?? aroundStageOf(placed)) ? undefined : client.wire;
  const target = { ...unstaged, relays };
  const others = provider.otherBaseUrls ?? [];
  const targets = [target, ...others.map((url) => ({ ...target, baseUrl: withQuery(url, extras.query) }))];
  const upstream = format.protocol(target);
  const rows = format.rows?.(target) ?? [];
  return {
    ...key,
    shown: { provider: shownName(config.referred, provider.name), model: shownName(config.referred, model) },
    choice,
    format,
    target,
    targets,
    upstream,
    rows,
    patches: extras.patches,
    destination,
    judges: stages.some(({ when }) => when !== undefined && isForVerdicts(when)),
    window,
    total,
    lacks,
    maySign: choice.options.cloud === 'bedrock' || cloudAt(provider.baseUrl)?.name === 'bedrock',
    socket: socketOf(provider, upstream),
    graph: buildGraph({
      ...key,
      choice,
      target,
      upstream,
      rows,
      stages,
      extras,
      lacks,
      router: config.router.module,
    }),
    fault: fault ?? unsetFault(provider) ?? (misfit && optionsFault(format, misfit)),
  };
};

/** The format of a provider's model. */
export const formatOf = (
  { transformers }: Pick<Config, 'transformers'>,
  registry: TransformerRegistry,
  key: Destination,
): FormatChoice =>
  chooseFormat(
    transformers.filter((entry) => applies(entry, key)),
    registry,
    key.provider,
    key.model,
  );

/** The faults of providers whose `webSocket` has nothing to apply to: no protocol of their models has one. */
export const socketFaults = (config: Config, registry: TransformerRegistry): readonly Finding[] =>
  config.providers.flatMap((provider, index) => {
    if (!provider.webSocket) return [];
    const formats = new Set<string>();
    for (const model of provider.models.length > 0 ? provider.models : ['']) {
      const { format, options } = formatOf(config, registry, { provider, model });
      const usable = format.optionsReader.faults(options, 'options').length > 0 ? {} : options;
      const target = { baseUrl: provider.baseUrl, options: usable, model };
      if (clientWires.some((relays) => socketOf(provider, format.protocol({ ...target, relays })))) return [];
      formats.add(format.name);
    }
    const path = `${memberPath('Providers', index)}.webSocket`;
    const message = `needs a model that is called by Responses, since no other API has WebSocket; this provider's format is ${[...formats].join(', ')}`;
    return [{ path, message }];
  });

const withQuery = (baseUrl: URL, query: Readonly<Record<string, string>>): URL => {
  const url = new URL(baseUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
};

/** Whether an entry is for a destination. */
export const applies = (entry: TransformerEntry, { provider, model }: Destination): boolean =>
  (entry.provider === undefined || entry.provider === provider.name) &&
  (entry.models === undefined || entry.models.includes(model));

const optionsFault = ({ name }: Format, { path, message }: SchemaFault): Fault => ({
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

/** A plan for users: its graph without the functions. Holds no secrets. */
export const showPlan = ({ client, provider, model, choice, rows, graph, fault }: Plan, routes: readonly string[]) => ({
  client: client.wire,
  provider: provider.name,
  model,
  routes,
  format: {
    name: choice.format.name,
    because: choice.because,
    ...(choice.entry !== undefined && { entry: choice.entry }),
    ...(rows.length > 0 && { rows }),
  },
  passThrough: { request: graph.requestRelay, reply: graph.replyRelay },
  fault: fault?.message ?? null,
  nodes: graph.nodes.map(({ id, step, name, takes, gives, about }) => ({ id, step, name, takes, gives, ...about })),
  edges: graph.edges,
});
