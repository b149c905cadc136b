import { isJsonObject, type JsonDraft, type JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { recordExtraLoss, recordMemberLoss } from '../../engine/model/record-losses.ts';
import type { Extra } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import type { ChatDialect } from './dialect.ts';

/** The members of `value` outside `known`, without nulls; `undefined` when there are none. */
export const unknownMembers = (value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined => {
  let rest: JsonDraft | undefined;
  for (const name in value) {
    const member = value[name];
    if (known.has(name) || member === null || member === undefined) continue;
    rest ??= {};
    rest[name] = member;
  }
  return rest;
};

/** The unmodelled members of a client's object. */
export const extraOf = (value: JsonObject, known: ReadonlySet<string>, at: string): Extra | undefined => {
  const fields = unknownMembers(value, known);
  return fields && { wire: 'chat', at, fields };
};

/**
 * Writes unmodelled members of this format back into `target`: objects are merged, lists appended. Members of other
 * formats, rejected ones and duplicates become losses.
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
    if (extra.wire !== 'chat' || refuses(name)) recordMemberLoss(memberPath(extra.at, name), value, losses);
    else if (there === undefined) target[name] = value;
    else if (isJsonObject(there) && isJsonObject(value)) target[name] = { ...value, ...there };
    else if (Array.isArray(there) && Array.isArray(value)) target[name] = [...value, ...there];
    else recordMemberLoss(memberPath(extra.at, name), value, losses);
  }
  recordExtraLoss(extra.outer, losses);
};

/** Whether the vendor rejects unknown members of messages and tools. */
export const refusesUnknown = ({ acceptedExtra }: ChatDialect): (() => boolean) =>
  acceptedExtra === undefined ? takesAny : takesNone;

const takesAny = (): boolean => false;
const takesNone = (): boolean => true;
