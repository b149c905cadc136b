import { isJsonObject, type Json, type JsonDraft, type JsonObject } from './json.ts';

/**
 * Applies a JSON Merge Patch to `value` itself, which keeps the digits of its own numbers: members replace those of the value,
 * objects are merged, null removes. Objects inside the value are copied where they change. Source: RFC 7396, section 2.
 */
const applyPatch = (value: JsonDraft, patch: JsonObject): JsonDraft => {
  for (const [name, member] of Object.entries(patch)) {
    if (member === null || member === undefined) delete value[name];
    else setOwn(value, name, isJsonObject(member) ? applyPatch(copyOf(ownMember(value, name)), member) : member);
  }
  return value;
};

/** Applies several patches to `value` itself, one after the other. */
export const applyPatches = (value: JsonDraft, patches: readonly JsonObject[]): JsonObject =>
  patches.reduce<JsonDraft>(applyPatch, value);

const copyOf = (value: Json | undefined): JsonDraft => (isJsonObject(value) ? { ...value } : {});

const ownMember = (value: JsonDraft, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** An assignment would give a member named `__proto__` another meaning. */
const setOwn = (target: JsonDraft, name: string, value: Json | undefined): void => {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
};
