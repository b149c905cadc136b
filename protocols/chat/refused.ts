import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { ModelRequest, Part, Tool, Turn } from '../../engine/model/request.ts';
import { fitsToolSchema, narrowToolSchema } from '../../engine/model/wire/tool-schema.ts';
import type { ChatDialect } from './dialect.ts';
import { isAsked } from './encode-request/encode-request.ts';

/**
 * Whether a chat client's request has what the vendor is known to refuse, so that it is converted in place of being relayed. What
 * a conversion leaves out only as a precaution isn't refused.
 */
export const hasRefused = (request: ModelRequest, body: JsonObject, dialect: ChatDialect): boolean =>
  hasRefusedMember(body, dialect) ||
  hasRefusedValue(request, body, dialect) ||
  (dialect.acceptedExtra !== undefined && hasUnknown(request, body, dialect, dialect.acceptedExtra)) ||
  (dialect.refused.has('name') && request.turns.some(({ name }) => name !== undefined)) ||
  request.tools.some((tool) => isRefusedTool(tool, dialect)) ||
  (dialect.refusesTextLists && hasTextList(body));

const hasRefusedMember = (body: JsonObject, { refused, rejectedExtra }: ChatDialect): boolean => {
  for (const name of refused) if (body[name] !== undefined) return true;
  for (const name of rejectedExtra) if (body[name] !== undefined) return true;
  return false;
};

const hasRefusedValue = (request: ModelRequest, body: JsonObject, dialect: ChatDialect): boolean => {
  const { temperature, maxTokens = 0, reasoning } = request;
  const { temperatures, mostTokens = Number.POSITIVE_INFINITY, excludes, reasoning: control } = dialect;
  const effort = reasoning?.effort;
  return (
    maxTokens > mostTokens ||
    (temperature !== undefined &&
      temperatures !== undefined &&
      (temperature < temperatures[0] || temperature > temperatures[1])) ||
    (effort !== undefined && (!control || (control.form !== 'switch' && control.efforts[effort] !== effort))) ||
    excludes.some(
      ({ beside, left }) => left.some((name) => body[name] !== undefined) && isAsked(beside, request, dialect),
    )
  );
};

/** What every vendor knows that rejects unknown members. */
const basicMembers: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'tools', 'tool_choice', 'response_format'],
  // Their values are judged by themselves.
  'reasoning_effort',
]);

/** Whether a request has members that a vendor doesn't know, which rejects all of these. */
const hasUnknown = (
  { turns, tools }: ModelRequest,
  body: JsonObject,
  { maxTokens, fields, fieldNames, user }: ChatDialect,
  accepted: ReadonlySet<string>,
): boolean => {
  const own: ReadonlySet<string> = new Set([
    ...[...fields].map((field) => fieldNames[field] ?? field),
    ...[maxTokens, user?.field ?? ''],
  ]);
  const isKnown = (name: string): boolean => basicMembers.has(name) || own.has(name) || accepted.has(name);
  return (
    !Object.keys(body).every(isKnown) || tools.some(({ extra }) => extra !== undefined) || turns.some(hasUnknownPart)
  );
};

const hasUnknownPart = ({ extra, parts }: Turn): boolean =>
  extra !== undefined || parts.some((part) => part.extra !== undefined || isReasoning(part));

const isReasoning = ({ type }: Part): boolean => type === 'thinking' || type === 'redacted-thinking';

/** A schema is refused only where the vendor's own form is known. */
const isRefusedTool = (tool: Tool, { refused, toolSchema: form }: ChatDialect): boolean => {
  if (tool.type !== 'function') return false;
  const { strict, parameters } = tool;
  if (strict !== undefined && refused.has('strict')) return true;
  return parameters !== undefined && form !== narrowToolSchema && !fitsToolSchema(parameters, form);
};

const hasTextList = ({ messages }: JsonObject): boolean =>
  Array.isArray(messages) &&
  messages.some(
    (message) =>
      isJsonObject(message) &&
      Array.isArray(message.content) &&
      message.content.every((part) => isJsonObject(part) && part.type === 'text'),
  );
