import { scenarios } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import { HeadFile } from '../config/schema.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';

/** What a manifest says of itself. */
const about: ReadonlySet<string> = new Set([
  'name',
  'version',
  'description',
  'author',
  'homepage',
  'repository',
  'license',
  'keywords',
]);
/** What concerns the service as a whole, whose listener and logs serve all presets. */
const ofTheService: ReadonlySet<string> = new Set(Object.keys(HeadFile.properties));

/**
 * A preset's manifest over the base configuration, both as written. A field that the preset has takes the place of the base's;
 * of `Router` each member, and of its routes and fallbacks each scenario. Fields of the service itself stay the base's.
 */
export const mergePreset = (
  base: JsonObject,
  preset: JsonObject,
): { readonly written: JsonObject; readonly warnings: readonly Finding[] } => {
  const fields = Object.entries(preset).filter(([name]) => !about.has(name) && !ofTheService.has(name));
  const warnings = Object.keys(preset)
    .filter((name) => ofTheService.has(name))
    .map((path) => ({ path, message: 'has no effect in a preset' }));
  // `fromEntries` defines members, so that one named `__proto__` stays a member.
  const [below, above] = [gatherFallback(base), gatherFallback(Object.fromEntries(fields))];
  const merged: JsonObject = Object.fromEntries([...Object.entries(below), ...Object.entries(above)]);
  const { Router: ours } = below;
  const { Router: theirs } = above;
  if (!isJsonObject(ours) || !isJsonObject(theirs)) return { written: merged, warnings };
  return { written: { ...merged, Router: mergeRouter(ours, theirs) }, warnings };
};

const mergeRouter = (base: JsonObject, preset: JsonObject): JsonObject => {
  const [below, above] = [gatherRoutes(base), gatherRoutes(preset)];
  return { ...below, ...above, ...mergeMember('routes', below, above), ...mergeMember('fallback', below, above) };
};

const mergeMember = (name: string, { [name]: below }: JsonObject, { [name]: above }: JsonObject): JsonObject =>
  isJsonObject(below) && isJsonObject(above) ? { [name]: { ...below, ...above } } : {};

/** Fallbacks in the older spelling, beside the router, into it: else the base's would stand beside the preset's. */
const gatherFallback = (written: JsonObject): JsonObject => {
  const { fallback, ...rest } = written;
  const { Router = {} } = written;
  if (!isJsonObject(fallback) || !isJsonObject(Router)) return written;
  if (Router.fallback !== undefined && !isJsonObject(Router.fallback)) return written;
  return { ...rest, Router: { ...Router, fallback: { ...fallback, ...Router.fallback } } };
};

/** Scenarios in the older spelling, directly on the router, into its routes: else the base's newer one would win over them. */
const gatherRoutes = (router: JsonObject): JsonObject => {
  const direct = Object.entries(router).filter(([name]) => isScenario(name));
  if (direct.length === 0 || (router.routes !== undefined && !isJsonObject(router.routes))) return router;
  const rest = Object.entries(router).filter(([name]) => !isScenario(name));
  return { ...Object.fromEntries(rest), routes: { ...Object.fromEntries(direct), ...router.routes } };
};

const isScenario = (name: string): boolean => scenarios.some((scenario) => scenario === name);
