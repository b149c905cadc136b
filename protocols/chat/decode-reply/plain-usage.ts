import type { Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { decodeUsage } from '../reply-end.ts';
import { reportedError } from './decode-stream.ts';
import { WireUsage } from './schema-reply.ts';

const wireUsage = lenientReader(WireUsage);

/** Finish reasons that no server uses for a failure. */
const plainFinishes: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls']);

/** Members of a message, and of a call, that hold no reasoning. */
const plainMembers: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'annotations', 'audio', 'function_call', 'tool_calls'],
]);
const plainCallMembers: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function', 'custom']);

/** Servers have reasoning under many names, and some in tags at the text's beginning. */
const holdsReasoning = (message: JsonObject): boolean => {
  for (const name in message) if (!plainMembers.has(name) && isFilled(message[name])) return true;
  const { content, tool_calls: calls } = message;
  if (isFilled(content) && (typeof content !== 'string' || beginsWithTag(content))) return true;
  if (!isFilled(calls)) return false;
  return !Array.isArray(calls) || calls.some((call) => !isJsonObject(call) || hasMore(call));
};

const hasMore = (call: JsonObject): boolean => {
  for (const name in call) if (!plainCallMembers.has(name) && isFilled(call[name])) return true;
  return false;
};

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The text's first character that isn't white space, as far as the first 100 say; many blanks count as a tag. */
const beginsWithTag = (text: string): boolean => {
  const beginning = text.slice(0, 100).trimStart();
  return beginning.startsWith('<') || (beginning === '' && text.length > 100);
};

/**
 * The usage of a whole reply of the usual form; `undefined` if it has another form, may hold a failure, or, with `mayReason`,
 * reasoning.
 */
export const plainUsage = (body: JsonObject, mayReason: boolean): Usage | undefined => {
  const { choices, usage, service_tier: tier } = body;
  if (!Array.isArray(choices) || choices.length === 0 || reportedError(body) !== undefined) return undefined;
  const isPlain = choices.every(
    (choice) =>
      isJsonObject(choice) &&
      isJsonObject(choice.message) &&
      !choice.error &&
      plainFinishes.has(choice.finish_reason) &&
      !(mayReason && holdsReasoning(choice.message)),
  );
  const wire = isPlain ? wireUsage.readable(usage) : undefined;
  return wire && { ...decodeUsage(wire), ...(typeof tier === 'string' && tier !== '' && { serviceTier: tier }) };
};
