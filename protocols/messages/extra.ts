import type { Static, TObject } from 'typebox';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { recordExtraLoss } from '../../engine/model/record-losses.ts';
import type { CacheMark, Extra } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';

/** A node's unmodelled members of this format; those of another become losses. */
export const ownExtra = (extra: Extra | undefined, losses: Losses): JsonObject | undefined => {
  if (!extra || extra.wire === 'messages') return extra?.fields;
  recordExtraLoss(extra, losses);
  return undefined;
};

/** Cache mark → `cache_control`. */
export const cacheControl = (cache: CacheMark | undefined): JsonObject | undefined =>
  cache && { type: 'ephemeral', ttl: cache.ttl };

/** A validated object, with the members outside its schema. */
export interface ReadNode<T> {
  readonly value: T;
  readonly extra: Extra | undefined;
}

/**
 * Creates a reader that also keeps members outside the schema, for the encoder of the same format. It throws an
 * `invalid-request` fault that names the member.
 */
export const nodeReader = <const S extends TObject>(schema: S) => {
  const { read } = reader(schema);
  const known = new Set(Object.keys(schema.properties));
  return (raw: unknown, at: string): ReadNode<Static<S>> => {
    const value = read(raw, at);
    return { value, extra: isJsonObject(raw) ? unread(raw, known, at) : undefined };
  };
};

/** `cache_control` → cache mark; absent if null. */
export const cacheMark = (control: JsonObject | null | undefined): CacheMark | undefined => {
  if (!control) return undefined;
  return control.ttl === '5m' || control.ttl === '1h' ? { ttl: control.ttl } : {};
};

const unread = (raw: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  let fields: JsonDraft | undefined;
  for (const name in raw) {
    if (known.has(name) && !(name === 'cache_control' && saysMore(raw[name]))) continue;
    fields ??= {};
    fields[name] = raw[name];
  }
  return fields && { wire: 'messages', at, fields };
};

/** Whether a cache mark has unmodelled members. */
const saysMore = (control: Json | undefined): boolean =>
  isJsonObject(control) &&
  !Object.entries(control).every(
    ([name, value]) =>
      (name === 'type' && value === 'ephemeral') ||
      (name === 'ttl' && (value === '5m' || value === '1h' || value === null)),
  );
