import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Extra } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';

/** The members to write back. Those of another wire format have no place here and are recorded. */
export const keepExtra = (extra: Extra | undefined, losses: Losses): JsonObject => {
  if (!extra) return {};
  if (extra.wire === 'responses') return extra.fields;
  for (const field of Object.keys(extra.fields)) losses.drop(memberPath(extra.at, field));
  return {};
};
