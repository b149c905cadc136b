import { readFile } from 'node:fs/promises';
import { errorCode } from '../../model/fault.ts';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import { type Config, scenarios } from '../config.ts';
import type { Finding } from '../diagnostics.ts';
import type { Environment } from '../env.ts';
import { parseConfig } from '../parse.ts';
import { manifestFields, ServiceSettings } from '../schema.ts';
import { type Validation, validateConfig } from '../validate.ts';
import { unusable } from './preset-files.ts';

/** Manifest fields that describe the preset. */
const descriptive: ReadonlySet<string> = new Set(manifestFields);
/** Fields of the whole service, whose listener and logs serve all presets. */
const serviceFields: ReadonlySet<string> = new Set(Object.keys(ServiceSettings.properties));

/**
 * Merges a preset's manifest over the source of the base configuration. Fields of the preset override those of the base; in
 * `Router` per member, in its routes and fallbacks per scenario. Service settings stay those of the base.
 */
export const mergePreset = (
  base: JsonObject,
  preset: JsonObject,
): { readonly source: JsonObject; readonly warnings: readonly Finding[] } => {
  const fields = Object.entries(preset).filter(([name]) => !descriptive.has(name) && !serviceFields.has(name));
  const warnings = Object.keys(preset)
    .filter((name) => serviceFields.has(name))
    .map((path) => ({ path, message: 'has no effect in a preset' }));
  // `fromEntries` keeps a member named `__proto__` a member.
  const [below, above] = [gatherFallback(base), gatherFallback(Object.fromEntries(fields))];
  const merged: JsonObject = Object.fromEntries([...Object.entries(below), ...Object.entries(above)]);
  const { Router: ours } = below;
  const { Router: theirs } = above;
  if (!isJsonObject(ours) || !isJsonObject(theirs)) return { source: merged, warnings };
  return { source: { ...merged, Router: mergeRouter(ours, theirs) }, warnings };
};

const mergeRouter = (base: JsonObject, preset: JsonObject): JsonObject => {
  const [below, above] = [gatherRoutes(base), gatherRoutes(preset)];
  return { ...below, ...above, ...mergeMember('routes', below, above), ...mergeMember('fallback', below, above) };
};

const mergeMember = (name: string, { [name]: below }: JsonObject, { [name]: above }: JsonObject): JsonObject =>
  isJsonObject(below) && isJsonObject(above) ? { [name]: { ...below, ...above } } : {};

/** Moves fallbacks in the older spelling into the router, so that base and preset use one form. */
const gatherFallback = (source: JsonObject): JsonObject => {
  const { fallback, ...rest } = source;
  const { Router = {} } = source;
  if (!isJsonObject(fallback) || !isJsonObject(Router)) return source;
  if (Router.fallback !== undefined && !isJsonObject(Router.fallback)) return source;
  return { ...rest, Router: { ...Router, fallback: { ...fallback, ...Router.fallback } } };
};

/** Moves scenarios in the older spelling into the routes: otherwise the base's newer spelling would override them. */
const gatherRoutes = (router: JsonObject): JsonObject => {
  const direct = Object.entries(router).filter(([name]) => isScenario(name));
  if (direct.length === 0 || (router.routes !== undefined && !isJsonObject(router.routes))) return router;
  const rest = Object.entries(router).filter(([name]) => !isScenario(name));
  return { ...Object.fromEntries(rest), routes: { ...Object.fromEntries(direct), ...router.routes } };
};

const isScenario = (name: string): boolean => scenarios.some((scenario) => scenario === name);

/** Validates a manifest over the source of the base configuration. */
export const validatePreset = (
  base: JsonObject,
  manifest: JsonObject,
  env: Environment,
): Validation & { readonly source: JsonObject } => {
  const { source, warnings } = mergePreset(base, manifest);
  const result = validateConfig(source, env);
  return { ...result, source, warnings: [...warnings, ...result.warnings] };
};

/** Reads and validates a preset over the source of the base configuration. Throws a fault that names the first problems. */
export const readPreset = async (
  name: string,
  file: string,
  base: JsonObject,
  env: Environment,
): Promise<Extract<Validation, { readonly config: Config }>> => {
  const parsed = parseConfig(await readText(name, file));
  if ('faults' in parsed) throw unusable(name, parsed.faults);
  const result = validatePreset(base, parsed.source, env);
  if ('faults' in result) throw unusable(name, result.faults);
  return result;
};

const readText = async (name: string, file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    throw unusable(name, [{ path: 'manifest.json', message: `can't be read (${code})` }]);
  }
};
