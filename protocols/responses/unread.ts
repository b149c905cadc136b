import type { Json, JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Extra } from '../../engine/model/request.ts';

/** The members of an object that nobody read, to be written back to the same wire format; a null counts as absent. */
export const unread = (value: object, read: readonly string[], at: string): Extra | undefined => {
  const fields: JsonDraft = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined && !read.includes(name)) fields[name] = asJson(member);
  }
  return Object.keys(fields).length > 0 ? { wire: 'responses', at, fields } : undefined;
};

/** What was read from JSON text and checked as an object is a `JsonObject`; the schemas don't say so of members they skip. */
export const asJsonObject = (value: object): JsonObject => value as JsonObject;

const asJson = (value: unknown): Json => value as Json;
