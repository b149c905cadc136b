import type { Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { decodeUsage } from '../reply-end.ts';
import { reportedError } from './decode-stream.ts';
import { WireUsage } from './schema-reply.ts';

const wireUsage = lenientReader(WireUsage);

/** Finish reasons that no server uses for a failure. */
const plainFinishes: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls']);

/** The usage of a whole reply of the usual form; `undefined` if it has another form or may hold a failure. */
export const plainUsage = (body: JsonObject): Usage | undefined => {
  const { choices, usage } = body;
  if (!Array.isArray(choices) || choices.length === 0 || reportedError(body) !== undefined) return undefined;
  const isPlain = choices.every(
    (choice) =>
      isJsonObject(choice) && isJsonObject(choice.message) && !choice.error && plainFinishes.has(choice.finish_reason),
  );
  const wire = isPlain ? wireUsage.readable(usage) : undefined;
  return wire && decodeUsage(wire);
};
