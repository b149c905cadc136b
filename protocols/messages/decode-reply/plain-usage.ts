import type { Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { decodeUsage } from '../reply-end.ts';

/** Stop reasons of complete answers. */
const plainStops: ReadonlySet<unknown> = new Set(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use']);

/** The usage of a whole reply of the usual form; `undefined` if it has another form or may hold a failure. */
export const plainUsage = ({ type, content, stop_reason, error, usage }: JsonObject): Usage | undefined => {
  const isPlain = type === 'message' && Array.isArray(content) && !error && plainStops.has(stop_reason);
  return isPlain && isJsonObject(usage) ? decodeUsage(usage) : undefined;
};
