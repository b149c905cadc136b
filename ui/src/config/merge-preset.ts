import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';

/** What a manifest says of itself. */
const about = ['name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords'];

/** Fields that one service has for all presets. */
export const ofTheService: readonly string[] = [
  ...['HOST', 'PORT', 'WORKERS', 'APIKEY', 'LOG', 'LOG_LEVEL', 'ALLOWED_HOSTS', 'CHAT_STRICT'],
  ...['LIMITS', 'TIMEOUTS', 'RETRY', 'BREAKER', 'KEYS'],
];

/** What requests of a preset see: its fields over those of the configuration; of the router each member, of its lists each scenario. */
export const mergePreset = (config: JsonObject, manifest: JsonObject): JsonObject => {
  const own = Object.entries(manifest).filter(([name]) => !about.includes(name) && !ofTheService.includes(name));
  const merged: JsonObject = { ...config, ...Object.fromEntries(own) };
  const { Router: below } = config;
  const { Router: above } = merged;
  if (!isJsonObject(below) || !isJsonObject(above) || manifest.Router === undefined) return merged;
  return {
    ...merged,
    Router: { ...below, ...above, ...members('routes', below, above), ...members('fallback', below, above) },
  };
};

const members = (name: string, below: JsonObject, above: JsonObject): JsonObject => {
  const [under, over]: readonly (Json | undefined)[] = [below[name], above[name]];
  return isJsonObject(under) && isJsonObject(over) ? { [name]: { ...under, ...over } } : {};
};
