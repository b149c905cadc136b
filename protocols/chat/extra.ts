import { dropExtra, dropMember } from '../../engine/model/drop-extra.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { isJsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Extra } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';

/** The members of `value` that aren't among `known`, nulls left out; `undefined` when there are none. */
export const unknownMembers = (value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined => {
  let rest: JsonDraft | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (known.has(name) || member === null || member === undefined) continue;
    rest ??= {};
    rest[name] = member;
  }
  return rest;
};

/** The members of a client's object that the model has no place for. */
export const extraOf = (value: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  const fields = unknownMembers(value, known);
  return fields && { wire: 'chat', at, fields };
};

/**
 * Writes what came in by this same wire back into `target`: objects into objects, lists behind lists. Members of other wires,
 * refused ones and those whose place is taken become losses.
 */
export const writeExtra = (
  target: JsonDraft,
  extra: Extra | undefined,
  losses: Losses,
  refuses: (name: string) => boolean = () => false,
): void => {
  if (!extra) return;
  for (const [name, value] of Object.entries(extra.fields)) {
    const there = target[name];
    if (extra.wire !== 'chat' || refuses(name)) dropMember(memberPath(extra.at, name), value, losses);
    else if (there === undefined) target[name] = value;
    else if (isJsonObject(there) && isJsonObject(value)) target[name] = { ...value, ...there };
    else if (Array.isArray(there) && Array.isArray(value)) target[name] = [...value, ...there];
    else dropMember(memberPath(extra.at, name), value, losses);
  }
  dropExtra(extra.outer, losses);
};
