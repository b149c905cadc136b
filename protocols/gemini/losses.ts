import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { CacheMark, Extra } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';

/** What any node may bring along: a cache mark, for which this wire has no place, and members of another wire. */
export const dropMarks = (
  node: { readonly cache?: CacheMark | undefined; readonly extra?: Extra | undefined },
  at: string,
  losses: Losses,
): void => {
  if (node.cache) losses.drop(memberPath(at, 'cache_control'));
  dropExtra(node.extra, losses);
};
