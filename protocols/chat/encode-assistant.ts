import { dropExtra } from '../../engine/model/drop-extra.ts';
import { isJsonObject, type JsonDraft, type JsonObject, parseJson } from '../../engine/model/json.ts';
import type {
  ModelRequest,
  Part,
  RedactedThinkingPart,
  ThinkingPart,
  ToolCallPart,
  ToolInput,
  Turn,
} from '../../engine/model/request.ts';
import { inputText } from '../../engine/model/tool-input.ts';
import type { ToolNames } from '../../engine/model/tool-names.ts';
import { type ContentContext, encodeText } from './encode-content.ts';
import { writeExtra } from './extra.ts';
import { redactedEntry, thinkingEntry, wireFormat } from './reasoning-details.ts';
import { refusesUnknown, takes } from './takes.ts';
import { wireName } from './wire-name.ts';

/** What an assistant's message needs to know beside its content. */
export interface AssistantContext extends ContentContext {
  readonly names: ToolNames;
  readonly request: ModelRequest;
}

/** An assistant's turn → its message; `undefined` for a turn of which nothing is left. */
export const encodeAssistant = (turn: Turn, context: AssistantContext): JsonObject | undefined => {
  const { losses, dialect, model } = context;
  const calls = turn.parts.filter((part) => part.type === 'tool-call').map((part) => encodeCall(part, context));
  const content = assistantContent(turn.parts, context);
  const reasoning = encodeHistory(turn, calls.length > 0, context);
  if (content === undefined && calls.length === 0 && Object.keys(reasoning).length === 0) return undefined;
  const message: JsonDraft = {
    role: 'assistant',
    content: content ?? (calls.length > 0 ? null : ''),
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  if (turn.name !== undefined) {
    if (takes(dialect, model, 'name')) message.name = turn.name;
    else losses.drop(`${turn.at ?? 'messages'}.name`);
  }
  const refuses = refusesUnknown(dialect);
  writeExtra(message, turn.extra, losses, (name) => isAnnotations(name) || refuses());
  return message;
};

/** A reply's member, which requests have no place for. */
const isAnnotations = (name: string): boolean => name === 'annotations';

/** Text blocks run on from one to the next, as they did when the model wrote them. */
const assistantContent = (
  parts: readonly Part[],
  context: AssistantContext,
): string | readonly JsonObject[] | undefined => {
  const { losses, dialect, model } = context;
  const content: JsonObject[] = [];
  for (const part of parts) {
    const at = part.at ?? 'messages';
    switch (part.type) {
      case 'text':
        content.push(...encodeText(part, context));
        break;
      case 'refusal':
        if (takes(dialect, model, 'refusal')) {
          const wire: JsonDraft = { type: 'refusal', refusal: part.text };
          writeExtra(wire, part.extra, losses, refusesUnknown(dialect));
          content.push(wire);
        } else {
          dropExtra(part.extra, losses);
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
  const plain = content.every((part) => part.type === 'text' && Object.keys(part).length === 2);
  return plain ? content.map((part) => part.text).join('') : content;
};

const encodeCall = (part: ToolCallPart, context: AssistantContext): JsonObject => {
  const { losses, dialect, model, names, request } = context;
  const at = part.at ?? 'messages';
  if (part.cache) losses.drop(`${at}.cache_control`);
  if (part.signature && part.signature.data !== '') losses.drop(`${at}.signature`);
  const name = wireName(names, part.name);
  const custom = request.tools.some((tool) => tool.type === 'custom' && tool.name === part.name);
  const call: JsonDraft =
    custom && takes(dialect, model, 'custom_tools')
      ? { id: part.id, type: 'custom', custom: { name, input: customInput(part.input) } }
      : { id: part.id, type: 'function', function: { name, arguments: inputText(part.input) } };
  writeExtra(call, part.extra, losses, refusesUnknown(dialect));
  return call;
};

/** The free text inside a custom tool's `{"input": "…"}`; the whole text where it isn't of that form. */
export const customInput = (input: ToolInput): string => {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isJsonObject(value) && typeof value.input === 'string') return value.input;
  return typeof input === 'string' ? input : inputText(input);
};

/** Earlier reasoning in the dialect's member. Only this wire's own payloads, or none, may go back to its vendors. */
const encodeHistory = (turn: Turn, calls: boolean, context: AssistantContext): JsonObject => {
  const { losses, dialect, request } = context;
  const history = dialect.reasoningHistory;
  const sealed = history?.sealed?.test(request.model) ?? false;
  const thinking = turn.parts.filter((part) => part.type === 'thinking' || part.type === 'redacted-thinking');
  const at = turn.at ?? 'messages';
  const kept = thinking.filter((part) => {
    const keeps = history && (history.on === 'all' || calls) && canGoBack(part, history.field, sealed);
    if (!keeps) losses.drop(part.at ?? at);
    dropExtra(part.extra, losses);
    return keeps;
  });
  if (history && kept.length > 0) {
    if (history.field === 'reasoning_details') return { reasoning_details: kept.map(historyEntry) };
    for (const part of kept) if (part.signature?.data) losses.approximate(part.at ?? at, 'its text alone');
    return { [history.field]: kept.map((part) => (part.type === 'thinking' ? part.text : '')).join('') };
  }
  const off = request.reasoning?.mode === 'off' || request.reasoning?.effort === 'none';
  if (!history?.required || !calls || off) return {};
  losses.approximate(`${at}.${history.field}`, 'the reasoning of this call is lost');
  return { [history.field]: history.field === 'reasoning_details' ? [] : '' };
};

/** A plain text member has no place for payloads, but text whose own payload stays behind is still this vendor's. */
const canGoBack = (part: ThinkingPart | RedactedThinkingPart, field: string, sealed: boolean): boolean => {
  if (part.type === 'redacted-thinking') return part.signature.format === wireFormat && field === 'reasoning_details';
  if (sealed && !part.signature?.data) return false;
  return part.signature === undefined || part.signature.format === wireFormat;
};

const historyEntry = (part: ThinkingPart | RedactedThinkingPart, index: number): JsonObject => {
  if (part.type === 'redacted-thinking') return redactedEntry(part.signature, index);
  const entry = part.signature && thinkingEntry(part.signature, part.text, part.text, index);
  return entry ?? { type: 'reasoning.text', text: part.text };
};
