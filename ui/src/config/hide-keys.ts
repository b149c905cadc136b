import { isJsonObject, type Json, type JsonObject } from '../api/json.ts';
import { isLiteralKey } from './reference.ts';

/** A configuration with placeholders instead of keys, and the keys. */
interface Hidden {
  readonly shown: JsonObject;
  /** The keys by placeholder. */
  readonly keys: ReadonlyMap<string, string>;
}

/**
 * Replaces each key in plain text by a placeholder. It names the key's place, so that an older draft gets the newer key when
 * that was changed elsewhere.
 */
export const hideKeys = (config: JsonObject): Hidden => {
  const keys = new Map<string, string>();
  const placeholder = (key: string, place: string): string => {
    for (let copy = 1; ; copy += 1) {
      const text = `•••• ${place}${copy === 1 ? '' : ` (${copy})`}`;
      const known = keys.get(text);
      if (known === undefined) keys.set(text, key);
      if (known === undefined || known === key) return text;
    }
  };
  const hide = (value: Json, place: string): Json => {
    if (typeof value === 'string') return isLiteralKey(value) ? placeholder(value, place) : value;
    if (Array.isArray(value)) return value.map((one: Json, index) => hide(one, `${place}, no. ${index + 1}`));
    return value;
  };
  const walk = (value: Json, owner: string): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => walk(item, owner));
    if (!isJsonObject(value)) return value;
    const name = typeof value.name === 'string' ? value.name : owner;
    const members = Object.entries(value).flatMap(([member, inner]) =>
      inner === undefined ? [] : [[member, isKey(member) ? hide(inner, placeOf(member, name)) : walk(inner, name)]],
    );
    return Object.fromEntries(members);
  };
  const shown = walk(config, '');
  return { shown: isJsonObject(shown) ? shown : {}, keys };
};

/** Replaces placeholders by their keys. `unknown` lists placeholders without a key. */
export const putKeysBack = (
  shown: Json,
  keys: ReadonlyMap<string, string>,
): { readonly value: Json; readonly unknown: readonly string[] } => {
  const unknown: string[] = [];
  const walk = (value: Json): Json => {
    if (typeof value === 'string') {
      if (!value.startsWith('•')) return value;
      const key = keys.get(value);
      if (key === undefined) unknown.push(value);
      return key ?? value;
    }
    if (Array.isArray(value)) return value.map(walk);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => (inner === undefined ? [] : [[name, walk(inner)]])),
    );
  };
  return { value: walk(shown), unknown };
};

const isKey = (member: string): boolean => /^api_?key$/i.test(member);

const placeOf = (member: string, owner: string): string =>
  member === 'APIKEY' ? 'this gateway’s key' : `key of ${owner === '' ? 'a provider' : owner}`;
