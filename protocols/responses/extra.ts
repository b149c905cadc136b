import type { Json, JsonDraft, JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { recordExtraLoss } from '../../engine/model/record-losses.ts';
import type { Extra } from '../../engine/model/request.ts';

/** The unmodelled members to write back. Those of another format become losses. */
export const encodeExtra = (extra: Extra | undefined, losses: Losses): JsonObject => {
  if (!extra) return {};
  if (extra.wire === 'responses') return extra.fields;
  recordExtraLoss(extra, losses);
  return {};
};

/** The members outside `read`, to be written back in this format; null counts as absent. */
export const extraOf = (value: object, read: readonly string[], at: string): Extra | undefined => {
  const fields: JsonDraft = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined && !read.includes(name)) fields[name] = asJson(member);
  }
  return Object.keys(fields).length > 0 ? { wire: 'responses', at, fields } : undefined;
};

/** Types a validated object as `JsonObject`: schemas don't type unmodelled members. */
export const asJsonObject = (value: object): JsonObject => value as JsonObject;

const asJson = (value: unknown): Json => value as Json;
