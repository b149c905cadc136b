import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FaultError, messageOf } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json/json.ts';
import { memberPath, reader, type SchemaFault } from '../../model/schema.ts';
import type { Transformer } from '../../model/transformer.ts';
import { moduleUrl } from '../../paths.ts';
import { BoundedMap, memoize } from '../../runtime/memoize.ts';
import type { TransformerEntry } from '../config.ts';
import { Diagnostics, type Finding, formatFinding, formatFindings } from '../diagnostics.ts';
import { StageWhen } from '../rule-schema.ts';
import { checkCondition } from '../sections/check-condition.ts';
import { findModule, loadModule, type ModulePlaces } from './load-module.ts';
import { asStage, withContext } from './stage-context.ts';
import type { OpenStage, OpenTransformer } from './transformer.ts';

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
export const loadStages = async (
  entries: readonly TransformerEntry[],
  places: ModulePlaces,
  /** Stages of the package that are modules as users' are. */
  shipped: readonly string[] = [],
): Promise<LoadedStages> => {
  const equals = new Map<string, number>();
  const loaded = entries.flatMap((entry) => {
    const module = moduleOf(entry, places, shipped);
    if (!module) return [];
    const key = JSON.stringify([entry.path, entry.name, entry.options]);
    const count = equals.get(key) ?? 0;
    equals.set(key, count + 1);
    return [loadStage(entry, module, `${count} ${key}`).then((stage) => [entry.at, stage] as const)];
  });
  return new Map(await Promise.all(loaded));
};

/** The transformer of a stage of the package, without options. Rejects if it can't be loaded. */
export const loadShipped = async (name: string): Promise<OpenTransformer> => {
  const exported = await loadModule(shippedFile(name));
  if (!isOpenTransformer(exported)) throw new Error(`${name} exports no transformer`);
  return exported;
};

const shippedFile = (name: string): string =>
  fileURLToPath(moduleUrl(`stage-${name}`, `transformers/${name}/index.ts`));

/** The module of an entry. */
interface Module {
  /** Its path, existing or not. */
  readonly file: string;
  /** Its name for users, and the member of the entry that gives it. */
  readonly shown: string;
  readonly member: 'path' | 'name';
  /** Finds its real file. Rejects with the reason if it can't be used. */
  readonly find: () => Promise<string>;
}

const moduleOf = (
  { path, name }: TransformerEntry,
  places: ModulePlaces,
  shipped: readonly string[],
): Module | undefined => {
  if (path !== undefined) {
    return { file: resolve(places.home, path), shown: path, member: 'path', find: () => findModule(path, places) };
  }
  if (!shipped.includes(name)) return undefined;
  const file = shippedFile(name);
  return { file, shown: name, member: 'name', find: async () => file };
};

/** The stages of a module, by its export and the entry. */
const stagesOf = memoize((_exported: object) => new BoundedMap<string, OpenStage>(maxStages));

/** Entries of one module whose stages are kept. */
const maxStages = 64;

const loadStage = async (
  { at, name, options }: TransformerEntry,
  { shown, member, find, ...module }: Module,
  key: string,
): Promise<LoadedStage> => {
  let { file } = module;
  try {
    const found = await find();
    file = found;
    const exported = await asStage(name, () => loadModule(found));
    const known = isReference(exported) ? stagesOf(exported) : undefined;
    const stage = known?.get(key) ?? (await stageOf(name, exported, options));
    known?.set(key, stage);
    return { file, stage, ...selfDescription(exported) };
  } catch (error) {
    if (error instanceof InvalidOptions) {
      const findings = error.faults.map((fault) => ({ path: memberPath(at, fault.path), message: fault.message }));
      return { file, problem: `can't be used: ${shown}:${error.message}`, findings };
    }
    const problem = `can't be used: ${shown}: ${messageOf(error)}`;
    return {
      file,
      problem,
      findings: [{ path: at.startsWith('transformers[') ? memberPath(at, member) : at, message: problem }],
    };
  }
};

/**
 * The stage of a module's default export, as `loadStages` makes it. Rejects if the export has the wrong shape, or the options don't match
 * its schema.
 */
export const stageOf = async (name: string, exported: unknown, options: unknown): Promise<OpenStage> =>
  withContext(await asStage(name, () => readStage(exported, options)));

const isReference = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Modules that export a transformer describe themselves as the built-in ones do. */
const selfDescription = (exported: unknown): { about?: string; schema?: JsonObject } => {
  if (typeof exported !== 'object' || exported === null) return {};
  const about = 'about' in exported ? exported.about : undefined;
  const options = 'options' in exported ? parseJson(JSON.stringify(exported.options) ?? '') : undefined;
  return {
    ...(typeof about === 'string' && { about }),
    ...(isJsonObject(options) && { schema: withOptionalDefaults(options) }),
  };
};

/** The schema as a configuration has to match it: members with a default may be missing. */
const withOptionalDefaults = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name === 'required' && Array.isArray(value) && isJsonObject(schema.properties)) {
        const { properties } = schema;
        const hasDefault = (member: JsonObject[string]): boolean =>
          typeof member === 'string' && isJsonObject(properties[member]) && properties[member].default !== undefined;
        return [name, value.filter((member) => !hasDefault(member))];
      }
      if (Array.isArray(value))
        return [name, value.map((one) => (isJsonObject(one) ? withOptionalDefaults(one) : one))];
      return [name, isJsonObject(value) ? withOptionalDefaults(value) : value];
    }),
  );

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
  const stage: unknown = isTransformer(given) ? configured(given, options) : given;
  const problem = problemOf(stage);
  if (problem !== undefined) throw new Error(problem);
  // The types of the functions can't be checked here; their results are checked when they run.
  return stage as OpenStage;
};

/** The stage with these options. What a module itself refuses in them, by `fail` with `param`, is a fault of them as well. */
const configured = (given: Pick<Transformer, 'configure'>, options: unknown): unknown => {
  try {
    return given.configure(options);
  } catch (error) {
    const { param = '', message } = error instanceof FaultError ? error.fault : {};
    if (!/^options\b/.test(param)) throw error;
    throw new InvalidOptions([{ path: param, message: message ?? '' }]);
  }
};

const isTransformer = (value: unknown): value is Pick<Transformer, 'configure'> & Partial<Transformer> =>
  isRecord(value) && typeof value.configure === 'function';

const isOpenTransformer = (value: unknown): value is OpenTransformer => isTransformer(value) && isRecord(value.options);

const problemOf = (stage: unknown): string | undefined => {
  if (!isRecord(stage))
    return 'its default export must be a transformer, or a function of its options that returns one';
  const { name, when, concerns, request, events, call, operators = {}, around } = stage;
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  const fault = when === undefined ? undefined : faultOfCondition(when);
  if (fault) return `its ${formatFinding(fault)}`;
  if (!isOptionalFunction(concerns)) return 'its concerns must be a function';
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

const conditions = reader(StageWhen, { compiled: false });

/** What is wrong with a condition that a module declares. */
const faultOfCondition = (when: unknown): Finding | undefined => {
  if (!conditions.matches(when)) return conditions.faults(when, 'when')[0];
  const findings = new Diagnostics();
  checkCondition(when, 'when', findings);
  return findings.faults[0];
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isOptionalFunction = (value: unknown): boolean => value === undefined || typeof value === 'function';
