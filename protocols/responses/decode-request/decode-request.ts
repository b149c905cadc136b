import { fail } from '../../../engine/model/fault.ts';
import { asJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { OwnWireField } from '../../../engine/model/protocol.ts';
import type {
  Compaction,
  ModelRequest,
  OutputFormat,
  Reasoning,
  TextPart,
  Tool,
} from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import type { Settings } from './conversation.ts';
import { extraOf } from './decode-content.ts';
import { refusedItem } from './decode-items.ts';
import { decodeItems, toolItemsIn, toolListsIn, toolMembersIn } from './decode-messages.ts';
import { decodeToolChoice, decodeTools, refusedTool } from './decode-tools.ts';
import { Body, SchemaFormat } from './schema-request.ts';

const bodyReader = reader(Body);
const schemaFormatReader = reader(SchemaFormat);

/**
 * Decodes a client's body. References to the vendor's server state stay in `extra`; see `serverState`. Throws an
 * `invalid-request` fault that names the field. Source: OpenAI API reference, "Create a model response".
 */
export const decodeRequest = (body: JsonObject): ModelRequest => {
  const read = bodyReader.read(body);
  const stateful = serverState(body) !== undefined;
  if (!stateful && (read.input === undefined || read.input === null || read.input.length === 0)) {
    fail('invalid-request', 'input is required.', { param: 'input' });
  }
  const whole = typeof read.input === 'string' ? [{ role: 'user', content: read.input }] : (read.input ?? []);
  const compaction = triggerIn(whole);
  const input = compaction ? whole.slice(0, -1) : whole;
  const decodedTools = decodeTools([{ tools: read.tools ?? [], at: 'tools', found: false }, ...toolListsIn(input)]);
  const { deferred } = decodedTools;
  const { system, turns, settings } = decodeItems(input, decodedTools, stateful);
  const toolItems = toolItemsIn(input);
  const user = read.user ?? read.safety_identifier;
  const updated = withSettings(read, settings);
  const extra = extraFields(body, updated);
  const toolChoice = read.tool_choice ? decodeToolChoice(read.tool_choice, decodedTools) : undefined;
  // A tool that must be called needs no search.
  const isForced = (tool: Tool): boolean =>
    toolChoice?.type === 'tool' && 'name' in tool && tool.name === toolChoice.name;
  const tools = [...decodedTools.tools, ...deferred.filter(isForced)];
  const deferredTools = deferred.filter((tool) => !isForced(tool));
  return {
    model: read.model ?? '',
    system: [...instructions(read.instructions), ...system],
    turns,
    tools,
    ...(deferredTools.length > 0 && { deferredTools }),
    ...(toolItems.length > 0 && { toolItems }),
    ...given('toolChoice', toolChoice),
    ...given('parallelToolCalls', read.parallel_tool_calls),
    ...given('maxTokens', read.max_output_tokens),
    ...given('temperature', read.temperature),
    ...given('topP', read.top_p),
    ...given('reasoning', decodeReasoning(updated.reasoning)),
    ...given('output', decodeFormat(updated, settings.formatAt)),
    ...given('verbosity', read.text?.verbosity),
    stream: read.stream ?? false,
    ...given('compaction', compaction),
    ...given('user', user),
    ...given('metadata', read.metadata),
    ...given('serviceTier', read.service_tier),
    ...given('store', read.store),
    ...given('promptCacheKey', read.prompt_cache_key),
    ...(extra && { extra: { wire: 'responses', at: '', fields: extra } }),
  };
};

/** The item that asks for a summary, which is the last one. Source: Codex 0.171, as recorded. */
const triggerIn = (input: readonly object[]): Compaction | undefined => {
  const last = input.at(-1);
  const item = last && asJsonObject(last);
  return item?.type === 'compaction_trigger'
    ? { at: memberPath('input', input.length - 1), raw: { wire: 'responses', value: item } }
    : undefined;
};

/** As `decodeRequest`, for endpoints where `input` may be absent or empty: it then holds one empty user message. */
export const decodePartialRequest = (body: JsonObject): ModelRequest => {
  const { input } = body;
  const missing = input === undefined || input === null || input === '' || (Array.isArray(input) && input.length === 0);
  return decodeRequest(missing ? { ...body, input: [{ role: 'user', content: '' }] } : body);
};

/** The member under its own name, or none if absent or null. */
const given = <const N extends string, V>(name: N, value: V | null | undefined): { readonly [K in N]?: V } =>
  value === null || value === undefined ? {} : ({ [name]: value } as { readonly [K in N]?: V });

const instructions = (text: string | null | undefined): readonly TextPart[] =>
  text ? [{ type: 'text', text, at: 'instructions' }] : [];

/** The body with the settings that its items changed last. */
const withSettings = (read: Body, { reasoning, text }: Settings): Body =>
  reasoning || text
    ? {
        ...read,
        ...(reasoning && { reasoning: { ...read.reasoning, ...reasoning } }),
        ...(text && { text: { ...read.text, ...text } }),
      }
    : read;

const decodeReasoning = (reasoning: Body['reasoning']): Reasoning | undefined => {
  const effort = reasoning?.effort ?? undefined;
  const asked = reasoning?.summary ?? reasoning?.generate_summary ?? undefined;
  if (effort === undefined && asked === undefined) return undefined;
  return {
    ...(effort === 'none' && { mode: 'off' }),
    ...(effort && { effort }),
    ...(asked && { show: asked === 'none' ? 'hidden' : asked }),
  };
};

const decodeFormat = ({ text }: Body, at = 'text.format'): OutputFormat | undefined => {
  const format = text?.format;
  switch (format?.type) {
    case undefined:
      return undefined;
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const { name, schema, description, strict } = schemaFormatReader.read(format, at);
      return {
        type: 'json-schema',
        schema: asJsonObject(schema),
        name,
        ...(description && { description }),
        ...(typeof strict === 'boolean' && { strict }),
      };
    }
    default:
      return fail('invalid-request', `${at}.type '${format?.type}' is not known.`, { param: `${at}.type` });
  }
};

const readMembers = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'user',
  'metadata',
  'prompt_cache_key',
  'service_tier',
  'store',
  'include',
  'text',
  'reasoning',
  'safety_identifier',
];

/** Values that equal an absent member, or that the gateway applies anyway. */
const defaults: Readonly<Record<string, unknown>> = {
  background: false,
  top_logprobs: 0,
  truncation: 'disabled',
};

const formatMembers = ['type', 'name', 'schema', 'description', 'strict'];

/** Included in every reply. */
const alwaysIncluded = 'reasoning.encrypted_content';

const extraFields = (body: JsonObject, read: Body): JsonObject | undefined => {
  const fields: JsonDraft = { ...extraOf(body, readMembers, '')?.fields };
  for (const [name, value] of Object.entries(defaults)) if (fields[name] === value) delete fields[name];
  if (read.stream_options?.include_obfuscation === false && Object.keys(read.stream_options).length === 1) {
    delete fields.stream_options;
  }
  const include = (read.include ?? []).filter((name) => name !== alwaysIncluded);
  if (include.length > 0) fields.include = include;
  if (read.user && read.safety_identifier && read.safety_identifier !== read.user) {
    fields.safety_identifier = read.safety_identifier;
  }
  const text = extraOf(read.text ?? {}, ['format', 'verbosity'], 'text');
  const format = extraOf(read.text?.format ?? {}, formatMembers, 'text.format');
  if (text || format) fields.text = { ...text?.fields, ...(format && { format: format.fields }) };
  // The newer of the two names wins.
  const known = ['effort', 'summary', ...(read.reasoning?.summary ? [] : ['generate_summary'])];
  const reasoning = extraOf(read.reasoning ?? {}, known, 'reasoning');
  if (reasoning) fields.reasoning = reasoning.fields;
  return Object.keys(fields).length > 0 ? fields : undefined;
};

/**
 * The first field that depends on the vendor's server state; `undefined` without one. Such a request needs an
 * upstream of this protocol.
 */
export const serverState = (body: JsonObject): string | undefined =>
  ['previous_response_id', 'conversation', 'prompt'].find((field) => (body[field] ?? null) !== null) ??
  (body.background === true ? 'background' : undefined);

/**
 * The first member that only upstreams of this protocol support: server state, an item that they alone can read, or an unknown
 * item or tool. Dropped, it would lose the past or the task silently.
 */
export const ownWireField = (body: JsonObject): OwnWireField | undefined => {
  const path = serverState(body);
  if (path !== undefined) return { path };
  const { tools, input } = body;
  const items = Array.isArray(input) ? input : [];
  return refusedItem(items) ?? refusedTool([{ tools, at: 'tools' }, ...toolMembersIn(items)]);
};
