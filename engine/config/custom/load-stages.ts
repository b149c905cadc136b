import { resolve } from 'node:path';
import { messageOf } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json/json.ts';
import { memberPath, type SchemaFault } from '../../model/schema.ts';
import type { Transformer } from '../../model/transformer.ts';
import { BoundedMap, memoize } from '../../runtime/memoize.ts';
import type { TransformerEntry } from '../config.ts';
import { type Finding, formatFindings } from '../diagnostics.ts';
import { findModule, loadModule, type ModulePlaces } from './load-module.ts';
import { asStage, withContext } from './stage-context.ts';
import type { OpenStage } from './transformer.ts';

/** The result of loading an entry's module. */
export type LoadedStage = (UsableStage | UnusableStage) & {
  /** Path of the module, existing or not. */
  readonly file: string;
};

interface UsableStage {
  readonly stage: OpenStage;
  /** The module's description, in one sentence. */
  readonly about?: string;
  /** JSON schema of its options, if the module has one. */
  readonly schema?: JsonObject;
}

interface UnusableStage {
  /** Why it can't be used, for the operator: may name files. */
  readonly problem: string;
  /** The same as findings with paths of the configuration. */
  readonly findings: readonly Finding[];
}

/** The custom stages of a configuration, by `at` of their entries. */
export type LoadedStages = ReadonlyMap<string, LoadedStage>;

/**
 * Loads the modules of all entries. An entry whose module and options are those of an earlier configuration keeps its stage, with its
 * state. Never rejects: a module that fails to load becomes a problem.
 */
export const loadStages = async (entries: readonly TransformerEntry[], places: ModulePlaces): Promise<LoadedStages> => {
  const equals = new Map<string, number>();
  const loaded = entries.flatMap((entry) => {
    if (entry.path === undefined) return [];
    const key = JSON.stringify([entry.path, entry.name, entry.options]);
    const count = equals.get(key) ?? 0;
    equals.set(key, count + 1);
    return [loadStage(entry, entry.path, places, `${count} ${key}`).then((stage) => [entry.at, stage] as const)];
  });
  return new Map(await Promise.all(loaded));
};

/** The stages of a module, by its export and the entry. */
const stagesOf = memoize((_exported: object) => new BoundedMap<string, OpenStage>(maxStages));

/** Entries of one module whose stages are kept. */
const maxStages = 64;

const loadStage = async (
  { at, name, options }: TransformerEntry,
  path: string,
  places: ModulePlaces,
  key: string,
): Promise<LoadedStage> => {
  let file = resolve(places.home, path);
  try {
    const found = await findModule(path, places);
    file = found;
    const exported = await asStage(name, () => loadModule(found));
    const known = isHolder(exported) ? stagesOf(exported) : undefined;
    const stage = known?.get(key) ?? (await stageOf(name, exported, options));
    known?.set(key, stage);
    return { file, stage, ...selfDescription(exported) };
  } catch (error) {
    if (error instanceof InvalidOptions) {
      const findings = error.faults.map((fault) => ({ path: memberPath(at, fault.path), message: fault.message }));
      return { file, problem: `can't be used: ${path}:${error.message}`, findings };
    }
    const problem = `can't be used: ${path}: ${messageOf(error)}`;
    return {
      file,
      problem,
      findings: [{ path: at.startsWith('transformers[') ? memberPath(at, 'path') : at, message: problem }],
    };
  }
};

/**
 * The stage of a module's default export, as `loadStages` makes it. Rejects if the export has the wrong shape, or the options don't match
 * its schema.
 */
export const stageOf = async (name: string, exported: unknown, options: unknown): Promise<OpenStage> =>
  withContext(await asStage(name, () => readStage(exported, options)));

const isHolder = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Modules that export a transformer describe themselves as the built-in ones do. */
const selfDescription = (exported: unknown): { about?: string; schema?: JsonObject } => {
  if (typeof exported !== 'object' || exported === null) return {};
  const about = 'about' in exported ? exported.about : undefined;
  const options = 'options' in exported ? parseJson(JSON.stringify(exported.options) ?? '') : undefined;
  return { ...(typeof about === 'string' && { about }), ...(isJsonObject(options) && { schema: options }) };
};

/** The options don't match a module's schema. */
class InvalidOptions extends Error {
  override readonly name = 'InvalidOptions';
  /** Paths start with `options`. */
  readonly faults: readonly SchemaFault[];

  constructor(faults: readonly SchemaFault[]) {
    super(formatFindings(faults));
    this.faults = faults;
  }
}

/**
 * Creates the stage of a module's default export: a transformer, a stage, or a function of the options that returns either.
 * Rejects if the export has the wrong shape, the function throws, or the options don't match the schema.
 */
const readStage = async (exported: unknown, options: unknown): Promise<OpenStage> => {
  if (exported === undefined) throw new Error('its module has no default export');
  const given: unknown = typeof exported === 'function' ? await exported(options) : exported;
  const faults = isTransformer(given) ? (given.optionsReader?.faults(options, 'options') ?? []) : [];
  if (faults.length > 0) throw new InvalidOptions(faults);
  const stage: unknown = isTransformer(given) ? given.configure(options) : given;
  const problem = problemOf(stage);
  if (problem !== undefined) throw new Error(problem);
  // The types of the functions can't be checked here; their results are checked when they run.
  return stage as OpenStage;
};

const isTransformer = (value: unknown): value is Pick<Transformer, 'configure'> & Partial<Transformer> =>
  isRecord(value) && typeof value.configure === 'function';

const problemOf = (stage: unknown): string | undefined => {
  if (!isRecord(stage))
    return 'its default export must be a transformer, or a function of its options that returns one';
  const { name, request, events, call, operators = {}, around } = stage;
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  if (!isOptionalFunction(request)) return 'its request half must be a function';
  if (!isOptionalFunction(call)) return 'its call half must be a function';
  if (events !== undefined && !(isRecord(events) && typeof events.start === 'function'))
    return 'its events half must be a machine; an RxJS operator belongs in operators.events';
  if (!isRecord(operators)) return 'its operators must be an object';
  for (const half of ['request', 'events'] as const) {
    if (!isOptionalFunction(operators[half])) return `its operators.${half} must be an RxJS operator`;
    if (operators[half] !== undefined && stage[half] !== undefined) return `it defines its ${half} half twice`;
  }
  if (!isOptionalFunction(around)) return 'its around must be a function';
  if (around !== undefined) {
    const half = ['request', 'events', 'call', 'operators'].find((member) => stage[member] !== undefined);
    return half === undefined ? undefined : `it has an around, so it can't have a ${half} half, too`;
  }
  const has = request ?? events ?? call ?? operators.request ?? operators.events;
  return has === undefined ? 'it has none of a request half, an events half, a call half and an around' : undefined;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isOptionalFunction = (value: unknown): boolean => value === undefined || typeof value === 'function';
