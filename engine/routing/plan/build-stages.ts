import { isDeepStrictEqual } from 'node:util';
import type { Config, RouterModule, TransformerEntry } from '../../config/config.ts';
import type { StageContext, StageDestination, StageReplyContext } from '../../config/custom/around.ts';
import type { LoadedStage } from '../../config/custom/load-stages.ts';
import type { OpenStage, StageOperator } from '../../config/custom/transformer.ts';
import { type Finding, unknownMembers } from '../../config/diagnostics.ts';
import type { When } from '../../config/rule-schema.ts';
import { findDestination, findPool } from '../../config/sections/destination.ts';
import type { Batch, ModelEvent } from '../../model/event.ts';
import { type Fault, faultOf, messageOf } from '../../model/fault.ts';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Losses } from '../../model/loss.ts';
import type { Machine } from '../../model/machine.ts';
import type { ModelRequest } from '../../model/request.ts';
import { memberPath } from '../../model/schema.ts';
import type { CallChanges, ProviderCall, Stage } from '../../model/transformer.ts';
import type { TransformerRegistry } from './choose-format.ts';

/** A stage and the configuration entry that names it. */
export type ConfiguredStage = BuiltStage & {
  readonly entry: TransformerEntry;
  /** The condition under which it runs; absent: always. */
  readonly when: When | undefined;
  /** The position of the entry in the configuration's list. */
  readonly position: number;
};

/** A stage of the gateway's own, or one that was loaded from a user's module. */
type BuiltStage =
  | { readonly custom: false; readonly stage: Stage }
  | { readonly custom: true; readonly stage: OpenStage };

/**
 * Builds the stages of the entries that apply, of all in list order, without those that don't concern the destination. `fault` is that of the
 * first unusable entry.
 */
export const buildStages = (
  all: readonly TransformerEntry[],
  applies: (entry: TransformerEntry, position: number) => boolean,
  registry: TransformerRegistry,
  destination: StageDestination,
): { readonly stages: readonly ConfiguredStage[]; readonly fault: Fault | undefined } => {
  const stages: ConfiguredStage[] = [];
  let fault: Fault | undefined;
  for (const [position, entry] of all.entries()) {
    if (!applies(entry, position)) continue;
    if (entry.path === undefined && registry.formats.has(entry.name)) continue;
    const built = buildStage(entry, registry, destination);
    if (typeof built === 'string') fault ??= unusable(entry, built);
    else if (built) stages.push({ ...built, entry, position, when: conditionOf(entry, registry) });
  }
  return { stages, fault };
};

/** The condition under which an entry's stage runs, from the entry and the module; absent: always. */
export const conditionOf = (
  { at, when }: TransformerEntry,
  { custom }: Pick<TransformerRegistry, 'custom'>,
): When | undefined => {
  const loaded = custom.get(at);
  const own = loaded && 'stage' in loaded ? loaded.stage.when : undefined;
  return own && when ? { all: [own, when] } : (own ?? when);
};

/** The stage, or the reason why there is none, worded for clients; `undefined`: it doesn't concern the destination. */
const buildStage = (
  entry: TransformerEntry,
  { stages, custom }: TransformerRegistry,
  destination: StageDestination,
): BuiltStage | string | undefined => {
  const loaded = custom.get(entry.at);
  if (loaded || entry.path !== undefined) {
    if (!loaded || 'problem' in loaded) return 'its module is not loaded; app.log says why';
    const { stage } = loaded;
    try {
      return (stage.concerns?.(destination) ?? true) ? { custom: true, stage } : undefined;
    } catch (error) {
      return `its concerns failed: ${messageOf(error)}`;
    }
  }
  const transformer = stages.get(entry.name);
  if (!transformer) return `no transformer of the name "${entry.name}" is loaded`;
  try {
    return { custom: false, stage: transformer.configure(entry.options) };
  } catch (error) {
    return faultOf(error).message;
  }
};

const unusable = ({ name }: TransformerEntry, why: string): Fault => ({
  kind: 'stage-failed',
  message: `Transformer "${name}" can't be used: ${why.replace(/\.$/, '')}.`,
});

/** A stage's request half: transforms requests. Those of users get the context of the request. */
export type RequestStage =
  | {
      readonly form: 'function';
      readonly custom: false;
      readonly run: (request: ModelRequest, losses: Losses) => ModelRequest;
    }
  | {
      readonly form: 'function';
      readonly custom: true;
      readonly run: (request: ModelRequest, losses: Losses, context: StageContext) => ModelRequest;
    }
  | { readonly form: 'operator'; readonly custom: true; readonly run: StageOperator<ModelRequest> };

/** A stage's half for the HTTP request to the provider. */
export type CallStage = { readonly form: 'function' } & (
  | { readonly custom: false; readonly run: (call: ProviderCall) => CallChanges | undefined }
  | { readonly custom: true; readonly run: (call: ProviderCall, context: StageContext) => CallChanges | undefined }
);

/** A stage's event half: transforms the events of answers. The order of a custom one's events is checked. */
export type EventStage =
  | { readonly form: 'machine'; readonly custom: false; readonly run: Machine<ModelEvent, ModelEvent> }
  | {
      readonly form: 'machine';
      readonly custom: true;
      readonly run: Machine<ModelEvent, ModelEvent, StageReplyContext>;
    }
  | { readonly form: 'operator'; readonly custom: true; readonly run: StageOperator<Batch> };

/** A stage around all that follows it. */
export interface AroundStage {
  readonly form: 'around';
  readonly custom: true;
  readonly run: NonNullable<OpenStage['around']>;
}

/** The stage's request half, if it has one. */
export const requestStageOf = ({ custom, stage }: BuiltStage): RequestStage | undefined => {
  if (!custom) return stage.request && { form: 'function', custom, run: stage.request };
  if (stage.request) return { form: 'function', custom, run: stage.request };
  return stage.operators?.request && { form: 'operator', custom, run: stage.operators.request };
};

/** The stage's event half, if it has one. */
export const eventStageOf = ({ custom, stage }: BuiltStage): EventStage | undefined => {
  if (!custom) return stage.events && { form: 'machine', custom, run: stage.events };
  if (stage.events) return { form: 'machine', custom, run: stage.events };
  return stage.operators?.events && { form: 'operator', custom, run: stage.operators.events };
};

/** The stage's half for the HTTP request, if it has one. */
export const callStageOf = ({ custom, stage }: BuiltStage): CallStage | undefined => {
  if (!custom) return stage.call && { form: 'function', custom, run: stage.call };
  return stage.call && { form: 'function', custom, run: stage.call };
};

/** The function around the rest, if the stage has one. */
export const aroundStageOf = ({ custom, stage }: BuiltStage): AroundStage | undefined =>
  custom && stage.around ? { form: 'around', custom, run: stage.around } : undefined;

/** The result of checking the transformer entries. A configuration with faults isn't activated. */
interface CheckedEntries {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/**
 * Checks the transformer entries and the router module against the registry: unknown names, invalid options, unusable modules. Unusable modules are
 * only warnings for entries that `tolerates` accepts: the service starts, and the routes that need them answer with the reason.
 */
export const validateEntries = (
  config: Config,
  registry: TransformerRegistry,
  tolerates: (entry: TransformerEntry | RouterModule) => boolean = () => false,
): CheckedEntries => {
  const { transformers, router } = config;
  const faults: Finding[] = [];
  const warnings: Finding[] = [];
  if (router.module && registry.router?.form === 'unusable') {
    (tolerates(router.module) ? warnings : faults).push(...registry.router.findings);
  }
  for (const entry of transformers) {
    const loaded = registry.custom.get(entry.at);
    warnings.push(...askFindings(entry, config, loaded !== undefined));
    if (loaded && 'stage' in loaded && loaded.stage.asks && (entry.ask ?? []).length === 0) {
      faults.push({
        path: memberPath(entry.at, 'ask'),
        message: `is required: ${JSON.stringify(entry.name)} asks a model`,
      });
    }
    const terms = termFindings(entry, loaded, registry);
    faults.push(...terms.faults);
    warnings.push(...terms.warnings);
    if (loaded && 'problem' in loaded) (tolerates(entry) ? warnings : faults).push(...loaded.findings);
    else if (loaded) warnings.push(...unknownOptions(entry, loaded.schema));
    else if (entry.path === undefined) {
      const row = registry.formats.get(entry.name) ?? registry.stages.get(entry.name);
      if (!row) faults.push({ path: entry.at, message: `names a transformer that is not loaded: "${entry.name}"` });
      else {
        faults.push(...row.optionsReader.faults(entry.options, memberPath(entry.at, 'options')));
        warnings.push(...unknownOptions(entry, row.options));
      }
    }
  }
  return { faults, warnings };
};

/** Destinations that a stage may ask, and that don't exist. */
const askFindings = (
  { at, name, path, ask = [] }: TransformerEntry,
  config: Config,
  isModule: boolean,
): readonly Finding[] => {
  const place = memberPath(at, 'ask');
  if (ask.length > 0 && path === undefined && !isModule) {
    return [{ path: place, message: `has no effect: ${JSON.stringify(name)} asks no model` }];
  }
  return ask.flatMap((to, index) =>
    findPool(config.pools, to) || (to.includes(',') && findDestination(config, to))
      ? []
      : [{ path: memberPath(place, index), message: `names no destination: ${JSON.stringify(to)}` }],
  );
};

/** Members by which an entry says how its stage runs. */
const stageTerms = ['timeoutMs', 'when', 'onError'] as const;

/** Checks what an entry says of how its stage runs. A format isn't a stage: no request can do without it. */
const termFindings = (
  entry: TransformerEntry,
  loaded: LoadedStage | undefined,
  { formats }: TransformerRegistry,
): CheckedEntries => {
  const { at, name, path, timeoutMs } = entry;
  if (path === undefined && formats.has(name)) {
    const message = `is for stages, and ${JSON.stringify(name)} is a format`;
    const set = stageTerms.filter((term) => entry[term] !== undefined);
    return { faults: set.map((term) => ({ path: memberPath(at, term), message })), warnings: [] };
  }
  const isUnknown = loaded !== undefined && 'problem' in loaded;
  if (timeoutMs === undefined || isUnknown || loaded?.stage.around || loaded?.stage.operators)
    return { faults: [], warnings: [] };
  const message = 'has no effect: only operators and `around` can be ended early';
  return { faults: [], warnings: [{ path: memberPath(at, 'timeoutMs'), message }] };
};

/** Options that the schema doesn't name, unless the schema itself covers additional properties. */
const unknownOptions = ({ at, options }: TransformerEntry, schema: object | undefined): readonly Finding[] => {
  if (schema === undefined || 'additionalProperties' in schema || 'patternProperties' in schema) return [];
  const properties = 'properties' in schema && isObject(schema.properties) ? schema.properties : undefined;
  if (!properties || !isJsonObject(options)) return [];
  return unknownMembers(options, Object.keys(properties), memberPath(at, 'options'));
};

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** Whether two entries are equal, apart from their place in the configuration. */
export const sameEntry = (one: TransformerEntry, other: TransformerEntry): boolean =>
  isDeepStrictEqual({ ...one, at: '' }, { ...other, at: '' });
