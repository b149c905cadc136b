import type { JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { CacheMark } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import type { ChatDialect, ChatField } from './dialect.ts';

/** Whether the vendor takes this member for this model. */
export const takes = (dialect: ChatDialect, model: string, field: ChatField): boolean =>
  dialect.fields.has(field) && !(dialect.rigid?.models.test(model) && dialect.rigid.refuses.has(field));

/** A cache mark as a member of the node at `at`; nothing, and a loss, where the dialect has no marks. */
export const cacheMember = (
  cache: CacheMark | undefined,
  dialect: ChatDialect,
  model: string,
  at: string | undefined,
  losses: Losses,
): JsonObject => {
  if (!cache) return {};
  const path = memberPath(at ?? 'messages', 'cache_control');
  if (!dialect.cacheMarks?.models.test(model)) {
    losses.drop(path);
    return {};
  }
  if (dialect.cacheMarks.form === 'cache_control') {
    return { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } };
  }
  losses.approximate(path, 'prompt_cache_breakpoint');
  return { prompt_cache_breakpoint: { mode: 'explicit' } };
};

/** For parts of the conversation and tools: whether the vendor refuses members that it doesn't know. */
export const refusesUnknown = ({ takenExtra }: ChatDialect): (() => boolean) =>
  takenExtra === undefined ? takesAny : takesNone;

const takesAny = (): boolean => false;
const takesNone = (): boolean => true;
