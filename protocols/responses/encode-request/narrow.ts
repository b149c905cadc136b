import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';

/** Members without which every server answers the same, and which only some know. */
const left = [
  'store',
  'user',
  'safety_identifier',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'service_tier',
  'client_metadata',
] as const;

/**
 * A body in the form that all servers of this protocol accept: without members that only some know, and without those at their
 * default. What a client asks for and the answer depends on is sent.
 */
export const narrowed = (body: JsonObject, losses: Losses): JsonObject => {
  const narrow = without(body, left, losses);
  // Encrypted reasoning is the gateway's own wish; without it, reasoning comes as text.
  const include = Array.isArray(body.include) ? body.include.filter((one) => one !== encrypted) : [];
  if (include.length > 0) narrow.include = include;
  else delete narrow.include;
  if (narrow.tool_choice === 'auto') delete narrow.tool_choice;
  if (narrow.parallel_tool_calls === true) delete narrow.parallel_tool_calls;
  if (Array.isArray(body.tools)) narrow.tools = body.tools.map(narrowTool);
  narrowReasoning(narrow, losses);
  return narrow;
};

const encrypted = 'reasoning.encrypted_content';

/** A body without these members, which the server refuses. */
export const without = (body: JsonObject, names: readonly string[], losses: Losses): JsonDraft => {
  const rest: JsonDraft = { ...body };
  for (const name of names) {
    if (rest[name] !== undefined && rest[name] !== false) losses.drop(requestNames.get(name) ?? name);
    delete rest[name];
  }
  return rest;
};

/** Losses have the names of the request's members. */
const requestNames: ReadonlyMap<string, string> = new Map([
  ['safety_identifier', 'user'],
  ['max_output_tokens', 'max_tokens'],
]);

/** `strict: false` says what these servers do anyway. */
const narrowTool = (tool: Json): Json => {
  if (!isJsonObject(tool) || tool.strict !== false) return tool;
  const { strict: _, ...others } = tool;
  return others;
};

const narrowReasoning = (body: JsonDraft, losses: Losses): void => {
  const { reasoning } = body;
  if (!isJsonObject(reasoning) || reasoning.summary === undefined) return;
  const { summary, ...others } = reasoning;
  if (summary !== 'auto') losses.approximate('reasoning.summary', 'reasoning as the server shows it');
  if (Object.keys(others).length > 0) body.reasoning = others;
  else delete body.reasoning;
};
