import { isJsonObject, type JsonDraft, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import {
  inputText,
  type ModelRequest,
  type Part,
  type RedactedThinkingPart,
  type ThinkingPart,
  type ToolCallPart,
  type ToolInput,
  type Turn,
} from '../../../engine/model/request.ts';
import { type ToolNames, toolsByName } from '../../../engine/model/wire/tool-names.ts';
import { takes } from '../dialect.ts';
import { membersOfSignature, redactedEntry, thinkingEntry, wireFormat } from '../reasoning-details.ts';
import { wireCallId, wireName } from '../tool-names.ts';
import { addText, type ContentContext, isPlainText, refusesUnknown, writeExtra } from './encode-content.ts';

/** What the encoder of an assistant message needs beside its content. */
export interface AssistantContext extends ContentContext {
  readonly names: ToolNames;
  readonly request: ModelRequest;
}

/** An assistant turn → its message; `undefined` if it is empty. */
export const encodeAssistant = (turn: Turn, context: AssistantContext): JsonObject | undefined => {
  const { losses, dialect } = context;
  const calls = turn.parts.filter((part) => part.type === 'tool-call').map((part) => encodeCall(part, context));
  const content = assistantContent(turn.parts, context);
  const reasoning = encodeHistory(turn, calls.length > 0, context);
  if (content === undefined && calls.length === 0 && !reasoning) return undefined;
  const message: JsonDraft = {
    role: 'assistant',
    content: content ?? (calls.length > 0 && !dialect.plainText ? null : ''),
  };
  if (reasoning) Object.assign(message, reasoning);
  if (calls.length > 0) message.tool_calls = calls;
  if (turn.name !== undefined) {
    if (takes(dialect, 'name')) message.name = turn.name;
    else losses.drop(`${turn.at ?? 'messages'}.name`);
  }
  const refuses = refusesUnknown(dialect);
  writeExtra(message, turn.extra, losses, (name) => isAnnotations(name) || refuses());
  return message;
};

/** Whether the member belongs to replies only. */
const isAnnotations = (name: string): boolean => name === 'annotations';

/** Joins text blocks without a separator, as the model wrote them. */
const assistantContent = (
  parts: readonly Part[],
  context: AssistantContext,
): string | readonly JsonObject[] | undefined => {
  const { losses, dialect } = context;
  const content: JsonObject[] = [];
  for (const part of parts) {
    const at = part.at ?? 'messages';
    switch (part.type) {
      case 'text':
        addText(part, context, content);
        break;
      case 'refusal':
        if (takes(dialect, 'refusal')) {
          const wire: JsonDraft = { type: 'refusal', refusal: part.text };
          writeExtra(wire, part.extra, losses, refusesUnknown(dialect));
          content.push(wire);
        } else {
          recordExtraLoss(part.extra, losses);
          losses.approximate(at, 'text');
          content.push({ type: 'text', text: part.text });
        }
        break;
      case 'thinking':
      case 'redacted-thinking':
      case 'tool-call':
        break;
      default:
        losses.drop(at);
    }
  }
  if (content.length === 0) return undefined;
  return content.every(isPlainText) ? content.map((part) => part.text).join('') : content;
};

const encodeCall = (part: ToolCallPart, context: AssistantContext): JsonObject => {
  const { losses, dialect, names, request } = context;
  const at = part.at ?? 'messages';
  if (part.cache) losses.drop(`${at}.cache_control`);
  const members = membersOfSignature(part.signature);
  if (part.signature && part.signature.data !== '' && !members) losses.drop(`${at}.signature`);
  const name = wireName(names, part.name);
  const id = wireCallId(part.id, names, dialect);
  const custom = toolsByName(request.tools).get(part.name)?.type === 'custom';
  const call: JsonDraft =
    custom && takes(dialect, 'custom_tools')
      ? { id, type: 'custom', custom: { name, input: customInput(part.input) } }
      : { id, type: 'function', function: { name, arguments: inputText(part.input) } };
  writeExtra(call, part.extra, losses, refusesUnknown(dialect));
  return { ...members, ...call };
};

/** The text inside a custom tool's `{"input": "…"}`; the whole text if it has another shape. */
const customInput = (input: ToolInput): string => {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isJsonObject(value) && typeof value.input === 'string') return value.input;
  return typeof input === 'string' ? input : inputText(input);
};

/**
 * Earlier reasoning in the dialect's member; `undefined` for none. Only signatures of this format, or unsigned text, may go back to its
 * vendors.
 */
const encodeHistory = (turn: Turn, calls: boolean, context: AssistantContext): JsonObject | undefined => {
  const { losses, dialect, request } = context;
  const history = dialect.reasoningHistory;
  const signed = history?.signed ?? false;
  const thinking = turn.parts.filter((part) => part.type === 'thinking' || part.type === 'redacted-thinking');
  const at = turn.at ?? 'messages';
  const kept = thinking.filter((part) => {
    const keeps = history && (history.on === 'all' || calls) && canSendBack(part, history.field, signed);
    if (!keeps) losses.drop(part.at ?? at);
    recordExtraLoss(part.extra, losses);
    return keeps;
  });
  if (history && kept.length > 0) {
    if (history.field === 'reasoning_details') return { reasoning_details: kept.map(historyEntry) };
    for (const part of kept) if (part.signature?.data) losses.approximate(part.at ?? at, 'only its text');
    return { [history.field]: kept.map((part) => (part.type === 'thinking' ? part.text : '')).join('') };
  }
  const off = request.reasoning?.mode === 'off' || request.reasoning?.effort === 'none';
  if (!history?.required || !calls || off) return undefined;
  losses.approximate(`${at}.${history.field}`, 'the reasoning of this call is lost');
  return { [history.field]: history.field === 'reasoning_details' ? [] : (history.placeholder ?? '') };
};

/** A plain text member can't hold signatures, but text whose signature stays behind is still this vendor's. */
const canSendBack = (part: ThinkingPart | RedactedThinkingPart, field: string, signed: boolean): boolean => {
  if (part.type === 'redacted-thinking') return part.signature.format === wireFormat && field === 'reasoning_details';
  if (signed && !part.signature?.data) return false;
  return part.signature === undefined || part.signature.format === wireFormat;
};

const historyEntry = (part: ThinkingPart | RedactedThinkingPart, index: number): JsonObject => {
  if (part.type === 'redacted-thinking') return redactedEntry(part.signature, index);
  const entry = part.signature && thinkingEntry(part.signature, part.text, part.text, index);
  return entry ?? { type: 'reasoning.text', text: part.text };
};
