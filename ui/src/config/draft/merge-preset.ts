import { isJsonObject, type Json, type JsonObject, parseObject } from '../../api/json.ts';
import { isPlaceholder } from '../reference.ts';
import { settingsOf } from '../settings-of.ts';

/**
 * The configuration that a preset's requests use: its fields replace others, but for those that, by the schema, are
 * settings of the service or describe the preset; `Router` is merged by member.
 */
export const mergePreset = (config: JsonObject, manifest: JsonObject, schema: JsonObject = {}): JsonObject => {
  const settings = settingsOf(schema);
  const about = Array.isArray(schema.manifest) ? schema.manifest : [];
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
