import { isDeepStrictEqual } from 'node:util';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Config, RouterModule, TransformerEntry } from '../../config/config.ts';
import type { OpenStage } from '../../config/custom/transformer.ts';
import { type Finding, unknownMembers } from '../../config/diagnostics.ts';
import type { ModelEvent } from '../../model/event.ts';
import { type Fault, faultOf } from '../../model/fault.ts';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Losses } from '../../model/loss.ts';
import type { Machine } from '../../model/machine.ts';
import type { ModelRequest } from '../../model/request.ts';
import { memberPath } from '../../model/schema.ts';
import type { CallChanges, ProviderCall } from '../../model/transformer.ts';
import type { TransformerRegistry } from './choose-format.ts';

/** A stage and the configuration entry that names it. */
export interface ConfiguredStage {
  readonly stage: OpenStage;
  readonly entry: TransformerEntry;
}

/** Builds the stages of the entries that apply, in list order. `fault` is that of the first unusable entry. */
export const buildStages = (
  entries: readonly TransformerEntry[],
  registry: TransformerRegistry,
): { readonly stages: readonly ConfiguredStage[]; readonly fault: Fault | undefined } => {
  const stages: ConfiguredStage[] = [];
  let fault: Fault | undefined;
  for (const entry of entries) {
    if (entry.path === undefined && registry.formats.has(entry.name)) continue;
    const built = buildStage(entry, registry);
    if (typeof built === 'string') fault ??= unusable(entry, built);
    else stages.push({ stage: built, entry });
  }
  return { stages, fault };
};

/** The stage, or the reason why there is none, worded for clients. */
const buildStage = (entry: TransformerEntry, { stages, custom }: TransformerRegistry): OpenStage | string => {
  if (entry.path !== undefined) {
    const loaded = custom.get(entry.at);
    return loaded && 'stage' in loaded ? loaded.stage : 'its module is not loaded; app.log says why';
  }
  const transformer = stages.get(entry.name);
  if (!transformer) return `no transformer of the name "${entry.name}" is loaded`;
  try {
    return transformer.configure(entry.options);
  } catch (error) {
    return faultOf(error).message;
  }
};

const unusable = ({ name }: TransformerEntry, why: string): Fault => ({
  kind: 'stage-failed',
  message: `Transformer "${name}" can't be used: ${why.replace(/\.$/, '')}.`,
});

/** A stage's request half: transforms requests. */
export type RequestStage = (
  | { readonly form: 'function'; readonly run: (request: ModelRequest, losses: Losses) => ModelRequest }
  | { readonly form: 'operator'; readonly run: MonoTypeOperatorFunction<ModelRequest> }
) & {
  /** Loaded from a user's module, so it gets a copy, and what it returns is checked. */
  readonly custom: boolean;
};

/** A stage's half for the HTTP request to the provider. */
export interface CallStage {
  readonly form: 'function';
  readonly run: (call: ProviderCall) => CallChanges | undefined;
}

/** A stage's event half: transforms the events of answers. */
export type EventStage = (
  | { readonly form: 'machine'; readonly run: Machine<ModelEvent, ModelEvent> }
  | { readonly form: 'operator'; readonly run: MonoTypeOperatorFunction<readonly ModelEvent[]> }
) & {
  /** Loaded from a user's module, so its events and their order are checked. */
  readonly custom: boolean;
};

/** The stage's request half, if it has one. */
export const requestStageOf = ({ request, operators }: OpenStage, custom: boolean): RequestStage | undefined => {
  if (request) return { form: 'function', run: request, custom };
  return operators?.request && { form: 'operator', run: operators.request, custom };
};

/** The stage's event half, if it has one. */
export const eventStageOf = ({ events, operators }: OpenStage, custom: boolean): EventStage | undefined => {
  if (events) return { form: 'machine', run: events, custom };
  return operators?.events && { form: 'operator', run: operators.events, custom };
};

/** The stage's half for the HTTP request, if it has one. */
export const callStageOf = ({ call }: OpenStage): CallStage | undefined => call && { form: 'function', run: call };

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
  { transformers, router }: Config,
  registry: TransformerRegistry,
  tolerates: (entry: TransformerEntry | RouterModule) => boolean = () => false,
): CheckedEntries => {
  const faults: Finding[] = [];
  const warnings: Finding[] = [];
  if (router.module && registry.router?.form === 'unusable') {
    (tolerates(router.module) ? warnings : faults).push(...registry.router.findings);
  }
  for (const entry of transformers) {
    const loaded = entry.path === undefined ? undefined : registry.custom.get(entry.at);
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
