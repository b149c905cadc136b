import type { Static } from 'typebox';
import { fail } from '../../../engine/model/fault.ts';
import {
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  parseJson,
  writeJson,
} from '../../../engine/model/json/json.ts';
import type { OwnWireField } from '../../../engine/model/protocol.ts';
import type {
  Compaction,
  Effort,
  Extra,
  ModelRequest,
  OutputFormat,
  Part,
  Reasoning,
  TextPart,
  Turn,
} from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import {
  CountBody,
  ManualThinking,
  Message,
  MessagesBody,
  Metadata,
  OutputConfig,
  SchemaFormat,
  Summarize,
  ThinkingBody,
} from '../schema-request.ts';
import { cacheMark, decodeContent, decodeTexts, nodeReader, type ReadNode } from './decode-content.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { holdsOwnBlocks, openSummaries } from './open-summaries.ts';

const readBody = nodeReader(MessagesBody);
const readCountBody = nodeReader(CountBody);
const readMessage = nodeReader(Message);
const readMetadata = nodeReader(Metadata);

/**
 * Decodes the body of `/v1/messages`. Strict on modelled members, with the path in the fault; unknown blocks and
 * members are kept.
 */
export const decodeRequest = (body: JsonObject): ModelRequest => decode(readBody(body, ''));

/** Decodes the body of `/v1/messages/count_tokens`: as `decodeRequest`, but `max_tokens` may be absent. */
export const decodeCountRequest = (body: JsonObject): ModelRequest => decode(readCountBody(body, ''));

/**
 * Whether the conversation starts with system messages, which belong in the top-level `system`, or holds a summary or a web
 * search that the vendor didn't make.
 */
export const needsRepair = ({ messages }: JsonObject): boolean => {
  if (!Array.isArray(messages)) return false;
  const first: unknown = messages[0];
  if (holdsOwnBlocks(messages)) return true;
  return typeof first === 'object' && first !== null && 'role' in first && first.role === 'system';
};

/** The first member that only upstreams of this format can serve: state or programs of the vendor's, or an unknown kind of compaction. */
export const ownWireField = (body: JsonObject): OwnWireField | undefined => {
  const path = ['mcp_servers', 'container', 'thread'].find((field) => isAsked(body[field]));
  if (path !== undefined) return { path };
  return isAsked(body.compaction) && !summarizeReader.matches(body.compaction) ? { path: 'compaction' } : undefined;
};

const isAsked = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

const decode = ({ value, extra }: ReadNode<Static<typeof CountBody>>): ModelRequest => {
  const decoded = value.messages.map((message, index) => decodeMessage(message, memberPath('messages', index)));
  const turns = decoded.some(({ parts }) => parts.some(isCompaction)) ? openSummaries(decoded) : decoded;
  const leading = leadingInstructions(turns);
  const controls = decodeControls(value);
  const compaction = compactionIn(value.compaction);
  const metadata = value.metadata ? readMetadata(value.metadata, 'metadata') : undefined;
  return {
    model: value.model,
    system: [...decodeTexts(value.system ?? [], 'system'), ...leading.flat()],
    turns: turns.slice(leading.length),
    tools: value.tools ? decodeTools(value.tools) : [],
    maxTokens: value.max_tokens ?? undefined,
    temperature: value.temperature ?? undefined,
    topP: value.top_p ?? undefined,
    topK: value.top_k ?? undefined,
    stop: value.stop_sequences ?? undefined,
    reasoning: controls.reasoning,
    output: controls.output,
    stream: value.stream ?? false,
    ...(compaction && { compaction }),
    user: metadata?.value.user_id ?? undefined,
    serviceTier: value.service_tier === 'standard_only' ? 'default' : (value.service_tier ?? undefined),
    cache: cacheMark(value.cache_control),
    extra: joinExtra({
      ...extra?.fields,
      ...controls.extra,
      ...(value.compaction !== undefined && !compaction && { compaction: value.compaction }),
      ...(metadata?.extra && { metadata: metadata.extra.fields }),
    }),
    ...(value.tool_choice && decodeToolChoice(value.tool_choice)),
  };
};

const isCompaction = (part: Part): boolean => part.type === 'opaque' && part.raw.type === 'compaction';

const summarizeReader = reader(Summarize);

const compactionIn = (value: Json | undefined): Compaction | undefined => {
  if (!isJsonObject(value) || !summarizeReader.matches(value)) return undefined;
  const { instructions } = value;
  const own = instructions?.trim() ? { instructions } : {};
  return { at: 'compaction', raw: { wire: 'messages', value }, ...own };
};

const decodeMessage = (raw: unknown, at: string): Turn => {
  const { value, extra } = readMessage(raw, at);
  const parts = decodeContent(value.content, memberPath(at, 'content'));
  const effort = effortFrom(extra?.fields.output_config);
  return {
    role: value.role,
    parts: value.role === 'system' ? instructions(parts) : parts,
    at,
    extra,
    ...(effort && { effort }),
  };
};

/** The effort that a message sets from there on. Source: Anthropic documentation, "Mid-conversation output config". */
const effortFrom = (config: Json | undefined): Effort | undefined =>
  isJsonObject(config) && typeof config.effort === 'string' && isEffort(config.effort) ? config.effort : undefined;

/** A system message holds text; other parts of newer clients, such as tool changes, are kept. */
const instructions = (parts: Turn['parts']): Turn['parts'] => {
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'opaque') {
      fail('invalid-request', `${part.at} must be a text block: the message's role is system.`, { param: part.at });
    }
  }
  return parts;
};

/** The texts of the leading system messages. */
const leadingInstructions = (turns: readonly Turn[]): readonly (readonly TextPart[])[] => {
  const leading: (readonly TextPart[])[] = [];
  for (const { role, parts } of turns) {
    if (role !== 'system') break;
    const texts = parts.filter((part) => part.type === 'text');
    if (texts.length < parts.length) break;
    leading.push(texts);
  }
  return leading;
};

const joinExtra = (fields: JsonObject): Extra | undefined =>
  Object.keys(fields).length > 0 ? { wire: 'messages', at: '', fields } : undefined;

/** The decoded `thinking` and `output_config`, and their unmodelled members. */
interface Controls {
  readonly reasoning: Reasoning | undefined;
  readonly output: OutputFormat | undefined;
  readonly extra: JsonObject;
}

/** The body members for thinking and the output format. */
interface ControlFields {
  readonly thinking?: JsonObject | null;
  readonly output_config?: JsonObject | null;
  /** The older name of `output_config.format`. */
  readonly output_format?: JsonObject | null;
}

/** Decodes thinking and output controls. Throws an `invalid-request` fault with the path. */
const decodeControls = (body: ControlFields): Controls => {
  const thinking = decodeThinking(body.thinking);
  const config = decodeConfig(body.output_config);
  const format = decodeFormat(body.output_format, 'output_format');
  const asked = thinking.reasoning || config.effort;
  return {
    reasoning: asked ? { ...thinking.reasoning, effort: config.effort, wire: 'messages' } : undefined,
    output: config.output ?? format.output,
    extra: { ...thinking.extra, ...config.extra, ...(format.rest && { output_format: format.rest }) },
  };
};

const readThinking = nodeReader(ThinkingBody);
const readManual = nodeReader(ManualThinking);

const decodeThinking = (raw: JsonObject | null | undefined): { reasoning?: Reasoning; extra?: JsonObject } => {
  if (!raw) return {};
  const { value, extra } = readThinking(raw, 'thinking');
  const show = value.display === 'omitted' ? 'hidden' : value.display === 'summarized' ? 'auto' : undefined;
  const kept = extra && { thinking: extra.fields };
  switch (value.type) {
    case 'enabled': {
      const manual = readManual(raw, 'thinking');
      return {
        reasoning: { mode: 'on', budget: manual.value.budget_tokens, show },
        ...(manual.extra && { extra: { thinking: manual.extra.fields } }),
      };
    }
    case 'adaptive':
      return { reasoning: { mode: 'adaptive', show }, ...(kept && { extra: kept }) };
    case 'between_tools':
      return { reasoning: { mode: 'between-tools', show }, ...(kept && { extra: kept }) };
    case 'disabled':
      return { reasoning: { mode: 'off' }, ...(kept && { extra: kept }) };
    default:
      return { extra: { thinking: raw } };
  }
};

const efforts: ReadonlySet<string> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
const isEffort = (word: string): word is Effort => efforts.has(word);
const readConfig = nodeReader(OutputConfig);

const decodeConfig = (
  raw: JsonObject | null | undefined,
): { effort?: Effort | undefined; output?: OutputFormat | undefined; extra?: JsonObject } => {
  if (!raw) return {};
  const { value, extra } = readConfig(raw, 'output_config');
  const { output, rest } = decodeFormat(value.format, 'output_config.format');
  const effort = value.effort && isEffort(value.effort) ? value.effort : undefined;
  const kept: JsonDraft = { ...extra?.fields };
  if (value.effort && !effort) kept.effort = value.effort;
  if (rest) kept.format = rest;
  return { effort, output, ...(Object.keys(kept).length > 0 && { extra: { output_config: kept } }) };
};

const schemaFormat = reader(SchemaFormat);

/** Decodes `output_config.format`. `rest`: an unmodelled format, unchanged. */
const decodeFormat = (raw: JsonObject | null | undefined, at: string): { output?: OutputFormat; rest?: JsonObject } => {
  if (!raw) return {};
  if (raw.type !== 'json_schema') return { rest: raw };
  return { output: { type: 'json-schema', schema: schemaFormat.read(raw, at).schema } };
};

/** Maximum length of a `user_id` that is searched; Claude Code's are shorter. */
const maxUserCharacters = 1_000;

/** The end of Claude Code's older `user_id`: `user_…_account_…_session_<id>`. */
const sessionForm = /_session_([\w-]{8,64})$/;

/** A newer `user_id`, which is a JSON text: `{"device_id":"…","account_uuid":"…","session_id":"…"}`. */
const jsonForm = (user: string): JsonObject | undefined => {
  const value = user.startsWith('{') && user.length <= maxUserCharacters ? parseJson(user) : undefined;
  return isJsonObject(value) ? value : undefined;
};

/** The session in Claude Code's `metadata.user_id`: the end of the text, or a JSON member in newer versions. */
export const sessionIn = ({ user = '' }: ModelRequest): string | undefined => {
  if (user.length > maxUserCharacters) return undefined;
  if (!user.startsWith('{')) return sessionForm.exec(user)?.[1];
  const id = jsonForm(user)?.session_id;
  return typeof id === 'string' ? id : undefined;
};

/** The part of a `user_id` that stays the same from session to session. */
export const userIn = (user: string): string => {
  if (user.length > maxUserCharacters) return user;
  const json = jsonForm(user);
  if (!json) return user.replace(sessionForm, '');
  const { session_id: _, ...others } = json;
  return Object.keys(others).length > 0 ? writeJson(others) : user;
};
