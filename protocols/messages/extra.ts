import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { CacheMark, Extra } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';

/** The members that a node brought along, where this wire format knows them; those of another become losses. */
export const ownExtra = (extra: Extra | undefined, losses: Losses): JsonObject | undefined => {
  if (!extra || extra.wire === 'messages') return extra?.fields;
  for (const [name, value] of Object.entries(extra.fields)) {
    if (value !== undefined && value !== null) losses.drop(memberPath(extra.at, name));
  }
  return undefined;
};

/** A mark as `cache_control`. */
export const cacheControl = (cache: CacheMark | undefined): JsonObject | undefined =>
  cache && { type: 'ephemeral', ttl: cache.ttl };
