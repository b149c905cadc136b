import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { CacheMark, Extra } from '../../engine/model/request.ts';

/** The members that a node brought along, where this wire format knows them; those of another become losses. */
export const ownExtra = (extra: Extra | undefined, losses: Losses): JsonObject | undefined => {
  if (!extra || extra.wire === 'messages') return extra?.fields;
  dropExtra(extra, losses);
  return undefined;
};

/** A mark as `cache_control`. */
export const cacheControl = (cache: CacheMark | undefined): JsonObject | undefined =>
  cache && { type: 'ephemeral', ttl: cache.ttl };
