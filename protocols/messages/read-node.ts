import type { Static, TObject } from 'typebox';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../engine/model/json.ts';
import type { CacheMark, Extra } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';

/** A wire object, checked, with the members that its schema doesn't read. */
export interface ReadNode<T> {
  readonly value: T;
  readonly extra: Extra | undefined;
}

/**
 * A reader that also keeps what the schema has no place for, so that the encoder of the same wire format can write it back.
 * It throws an `invalid-request` fault that names the member at fault.
 */
export const nodeReader = <const S extends TObject>(schema: S) => {
  const { read } = reader(schema);
  const known = new Set(Object.keys(schema.properties));
  return (raw: unknown, at: string): ReadNode<Static<S>> => {
    const value = read(raw, at);
    return { value, extra: isJsonObject(raw) ? unread(raw, known, at) : undefined };
  };
};

/** `cache_control` as a mark; absent when it is null. */
export const cacheMark = (control: JsonObject | null | undefined): CacheMark | undefined => {
  if (!control) return undefined;
  return control.ttl === '5m' || control.ttl === '1h' ? { ttl: control.ttl } : {};
};

const unread = (raw: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  const fields: JsonDraft = {};
  let found = false;
  for (const name of Object.keys(raw)) {
    if (known.has(name) && !(name === 'cache_control' && saysMore(raw[name]))) continue;
    fields[name] = raw[name];
    found = true;
  }
  return found ? { wire: 'messages', at, fields } : undefined;
};

/** A cache mark with members that `CacheMark` can't hold. */
const saysMore = (control: Json | undefined): boolean =>
  isJsonObject(control) &&
  !Object.entries(control).every(
    ([name, value]) =>
      (name === 'type' && value === 'ephemeral') ||
      (name === 'ttl' && (value === '5m' || value === '1h' || value === null)),
  );
