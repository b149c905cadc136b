import type { Static } from 'typebox';
import { fail } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Extra, ModelRequest, TextPart, Turn } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import { decodeContent, decodeTexts } from './decode-content.ts';
import { decodeControls } from './decode-reasoning.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { cacheMark, nodeReader, type ReadNode } from './extra.ts';
import { CountBody, Message, MessagesBody, Metadata } from './schema-request.ts';

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

/** Whether the conversation starts with system messages, which belong in the top-level `system`. */
export const needsRepair = ({ messages }: JsonObject): boolean => {
  const first: unknown = Array.isArray(messages) ? messages[0] : undefined;
  return typeof first === 'object' && first !== null && 'role' in first && first.role === 'system';
};

const decode = ({ value, extra }: ReadNode<Static<typeof CountBody>>): ModelRequest => {
  const turns = value.messages.map((message, index) => decodeMessage(message, memberPath('messages', index)));
  const leading = leadingInstructions(turns);
  const controls = decodeControls(value);
  const metadata = value.metadata ? readMetadata(value.metadata, 'metadata') : undefined;
  return {
    model: value.model,
    system: [...decodeTexts(value.system ?? [], 'system'), ...leading.flat()],
    turns: turns.slice(leading.length),
    tools: decodeTools(value.tools ?? []),
    maxTokens: value.max_tokens ?? undefined,
    temperature: value.temperature ?? undefined,
    topP: value.top_p ?? undefined,
    topK: value.top_k ?? undefined,
    stop: value.stop_sequences ?? undefined,
    reasoning: controls.reasoning,
    output: controls.output,
    stream: value.stream ?? false,
    user: metadata?.value.user_id ?? undefined,
    serviceTier: value.service_tier === 'standard_only' ? 'default' : (value.service_tier ?? undefined),
    cache: cacheMark(value.cache_control),
    extra: joinExtra({
      ...extra?.fields,
      ...controls.extra,
      ...(metadata?.extra && { metadata: metadata.extra.fields }),
    }),
    ...decodeToolChoice(value.tool_choice),
  };
};

const decodeMessage = (raw: unknown, at: string): Turn => {
  const { value, extra } = readMessage(raw, at);
  const parts = decodeContent(value.content, memberPath(at, 'content'));
  return { role: value.role, parts: value.role === 'system' ? instructions(parts) : parts, at, extra };
};

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
  for (const turn of turns) {
    const texts = turn.parts.filter((part) => part.type === 'text');
    if (turn.role !== 'system' || texts.length < turn.parts.length) break;
    leading.push(texts);
  }
  return leading;
};

const joinExtra = (fields: JsonObject): Extra | undefined =>
  Object.keys(fields).length > 0 ? { wire: 'messages', at: '', fields } : undefined;
