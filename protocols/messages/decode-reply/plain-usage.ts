import type { Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { decodeUsage } from '../reply-end.ts';

/** Stop reasons of complete answers. */
const plainStops: ReadonlySet<unknown> = new Set(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use']);

/** Blocks without reasoning. */
const plainBlocks: ReadonlySet<unknown> = new Set(['text', 'tool_use']);

/**
 * The usage of a whole reply of the usual form; `undefined` if it has another form, may hold a failure, or, with `mayReason`,
 * reasoning.
 */
export const plainUsage = (
  { type, content, stop_reason, error, usage }: JsonObject,
  mayReason: boolean,
): Usage | undefined => {
  const isPlain =
    type === 'message' &&
    Array.isArray(content) &&
    !error &&
    plainStops.has(stop_reason) &&
    (!mayReason || content.every((block) => isJsonObject(block) && plainBlocks.has(block.type)));
  return isPlain && isJsonObject(usage) ? decodeUsage(usage) : undefined;
};
