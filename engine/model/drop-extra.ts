import { isJsonObject, type Json } from './json.ts';
import type { Losses } from './loss.ts';
import type { Extra } from './request.ts';
import { memberPath } from './schema.ts';

/** How far into objects a loss looks for the very member that is lost, and how many it names one by one. */
const deepest = 2;
const mostNamed = 8;

/** Records all that a node brought along, and what the object around it did; null asks for nothing. */
export const dropExtra = (extra: Extra | undefined, losses: Losses): void => {
  if (!extra) return;
  for (const [name, value] of Object.entries(extra.fields)) dropMember(memberPath(extra.at, name), value, losses);
  dropExtra(extra.outer, losses);
};

/** Records a member in the client's own words: of an object, those in it, since it may be there for one of them. */
export const dropMember = (path: string, value: Json | undefined, losses: Losses, depth = deepest): void => {
  if (value === undefined || value === null) return;
  const inner = isJsonObject(value) && depth > 0 ? Object.entries(value) : [];
  if (inner.length === 0 || inner.length > mostNamed) losses.dropAsWritten(path);
  else for (const [name, member] of inner) dropMember(memberPath(path, name), member, losses, depth - 1);
};
