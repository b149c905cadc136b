import { isJsonObject, type Json, type JsonObject, parseObject } from '../../api/json.ts';
import { isPlaceholder } from '../reference.ts';

/** The descriptive fields of a manifest. */
const about = ['name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords'];

/**
 * The configuration that a preset's requests use: its fields replace others, but for those of the service; `Router` is merged by member.
 */
export const mergePreset = (config: JsonObject, manifest: JsonObject, settings: JsonObject = {}): JsonObject => {
  const own = Object.entries(manifest).filter(([name]) => !about.includes(name) && settings[name] === undefined);
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

/** The gateway can't tell apart the placeholders of a preset and those of the configuration in a merged one. */
export const withoutPlaceholders = (manifest: JsonObject): JsonObject =>
  parseObject(
    JSON.stringify(manifest, (_, value: unknown) => (typeof value === 'string' && isPlaceholder(value) ? '' : value)),
  ) ?? {};
