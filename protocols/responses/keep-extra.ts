import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Extra } from '../../engine/model/request.ts';

/** The members to write back. Those of another wire format have no place here and are recorded. */
export const keepExtra = (extra: Extra | undefined, losses: Losses): JsonObject => {
  if (!extra) return {};
  if (extra.wire === 'responses') return extra.fields;
  dropExtra(extra, losses);
  return {};
};
