import type { RequestContext } from '../../engine/model/context.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json/json.ts';
import { recordExtraLoss } from '../../engine/model/record-losses.ts';
import type { ModelRequest, Part, ToolCallPart, ToolResultPart, Turn } from '../../engine/model/request.ts';
import { type ChatDialect, cacheMember, takes } from './dialect.ts';
import { type AssistantContext, encodeAssistant } from './encode-assistant.ts';
import {
  addText,
  asContent,
  type ContentContext,
  encodeParts,
  isPlainText,
  refusesUnknown,
  writeExtra,
} from './encode-content.ts';
import { wireCallId } from './tool-names.ts';

/**
 * Instructions and turns → `messages`. Each call needs exactly one tool message directly after the assistant message,
 * so results move to the front and missing ones are added. `note` is an instruction added by the gateway.
 */
export const encodeMessages = (
  request: ModelRequest,
  dialect: ChatDialect,
  { names, losses }: RequestContext,
  note: string | undefined,
): JsonObject[] => {
  const context: AssistantContext = { model: request.model, dialect, losses, names, request };
  const messages: JsonObject[] = [];
  addSystem(request, note, context, messages);
  const turns = joinCallers(request.turns);
  for (let index = 0; index < turns.length; ) {
    const turn = turns[index];
    let calls: readonly ToolCallPart[] = [];
    if (turn?.role === 'assistant') {
      const message = encodeAssistant(turn, context);
      calls = callsOf(turn);
      const begins = index === turns.length - 1 && calls.length === 0;
      if (message) messages.push(begins ? asBeginning(message, turn, context) : message);
      index += 1;
    }
    const from = index;
    while (index < turns.length && turns[index]?.role !== 'assistant') index += 1;
    addFollowing(calls, turns.slice(from, index), context, messages);
  }
  return messages;
};

/** Joins a turn with tool calls and the next assistant turn: only results may follow calls. */
const joinCallers = (turns: readonly Turn[]): readonly Turn[] => {
  if (!turns.some(followsAssistant)) return turns;
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === 'assistant' && turn.role === 'assistant' && callsOf(last).length > 0) {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else joined.push(turn);
  }
  return joined;
};

const followsAssistant = ({ role }: Turn, index: number, turns: readonly Turn[]): boolean =>
  role === 'assistant' && turns[index - 1]?.role === 'assistant';

/** The final assistant message, which the reply is meant to continue. */
const asBeginning = (message: JsonObject, { at }: Turn, { dialect, losses }: ContentContext): JsonObject => {
  if (dialect.prefix) return { ...message, prefix: true };
  losses.approximate(at ?? 'messages', 'the model may start a new answer instead of continuing this text');
  return message;
};

const callsOf = (turn: Turn): readonly ToolCallPart[] => turn.parts.filter((part) => part.type === 'tool-call');

const addSystem = (
  request: ModelRequest,
  note: string | undefined,
  context: ContentContext,
  messages: JsonObject[],
): void => {
  const parts: JsonObject[] = [];
  for (const part of request.system) addText(part, context, parts);
  if (note !== undefined) parts.push({ type: 'text', text: note });
  if (parts.length === 0) return;
  const content = parts.every(isPlainText) ? parts.map((part) => part.text).join('\n\n') : parts;
  messages.push({ role: context.dialect.systemRole, content });
};

/** Adds the user and system turns between two assistant turns; `calls` are those of the first. */
const addFollowing = (
  calls: readonly ToolCallPart[],
  turns: readonly Turn[],
  context: AssistantContext,
  messages: JsonObject[],
): void => {
  const rest = calls.length === 0 && !turns.some(holdsResult) ? undefined : addResults(calls, turns, context, messages);
  for (const [index, turn] of turns.entries()) addTurn(turn, rest?.[index] ?? turn.parts, context, messages);
};

const holdsResult = ({ parts }: Turn): boolean => parts.some(({ type }) => type === 'tool-result');

/** Adds a message for each call's result, then one for their media. Returns the other parts of each turn. */
const addResults = (
  calls: readonly ToolCallPart[],
  turns: readonly Turn[],
  context: AssistantContext,
  messages: JsonObject[],
): readonly (readonly Part[])[] => {
  const open = new Map(calls.map((call) => [call.id, call]));
  /** Media of tool results; they move to the user message that follows. */
  const media: Part[] = [];
  const rest = turns.map(({ parts }) => {
    const others: Part[] = [];
    for (const part of parts) {
      if (part.type !== 'tool-result') others.push(part);
      else if (open.delete(part.id)) messages.push(encodeToolResult(part, context, media));
      else others.push(...strayResult(part, context));
    }
    return others;
  });
  for (const call of open.values()) {
    context.losses.approximate(call.at ?? 'messages', 'a call without a result got an empty one');
    const id = wireCallId(call.id, context.names, context.dialect);
    messages.push({ role: 'tool', tool_call_id: id, content: 'Error: this call has no result.' });
  }
  if (media.length > 0) messages.push({ role: 'user', content: encodeParts(media, context) });
  return rest;
};

/** A result without a preceding call would be rejected, so it becomes user content. */
const strayResult = (part: ToolResultPart, { losses }: ContentContext): readonly Part[] => {
  const at = part.at ?? 'messages';
  losses.approximate(at, 'a result without its call became text');
  return [{ type: 'text', text: `Result of the tool call ${part.id}:`, at }, ...part.content];
};

const addTurn = (turn: Turn, parts: readonly Part[], context: ContentContext, messages: JsonObject[]): void => {
  const { losses, dialect } = context;
  const content = encodeParts(parts, context);
  if (content.length === 0) {
    recordExtraLoss(turn.extra, losses);
    return;
  }
  const system = turn.role === 'system';
  const plain = system && content.every(isPlainText);
  const message: JsonDraft = {
    role: system ? dialect.systemRole : 'user',
    content: plain ? content.map((part) => part.text).join('\n\n') : asContent(content),
  };
  if (turn.name !== undefined) {
    if (takes(dialect, 'name')) message.name = turn.name;
    else losses.drop(`${turn.at ?? 'messages'}.name`);
  }
  writeExtra(message, turn.extra, losses, refusesUnknown(dialect));
  messages.push(message);
};

/**
 * A tool result → its tool message. Most vendors accept only text there: media move to `media`, and a note replaces
 * them.
 */
const encodeToolResult = (part: ToolResultPart, context: AssistantContext, media: Part[]): JsonObject => {
  const { dialect, losses, names } = context;
  const at = part.at ?? 'messages';
  const parts: JsonObject[] = [];
  for (const inner of part.content) {
    const isMedia = inner.type === 'image' || (inner.type === 'document' && inner.source.kind === 'base64');
    if (!isMedia || (dialect.toolImages && inner.type === 'image')) parts.push(...encodeParts([inner], context));
    else {
      losses.approximate(inner.at ?? at, 'moved after the tool message');
      parts.push({ type: 'text', text: `(The ${inner.type} is in the next user message.)` });
      media.push(inner);
    }
  }
  if (part.isError) {
    losses.approximate(`${at}.is_error`, 'a prefix of the text');
    parts.unshift({ type: 'text', text: 'Error: ' });
  }
  const message: JsonDraft = {
    role: 'tool',
    tool_call_id: wireCallId(part.id, names, dialect),
    content: resultContent(parts),
  };
  const mark = part.cache && cacheMember(part.cache, dialect, part.at, losses);
  if (mark && Object.keys(mark).length > 0) {
    const last = part.content.at(-1);
    // Both end at the same position; the outer one counts.
    if (last && 'cache' in last && last.cache) losses.drop(`${last.at ?? at}.cache_control`, 'one mark is enough');
    message.content = marked(parts, mark);
  }
  writeExtra(message, part.extra, losses, refusesUnknown(dialect));
  return message;
};

/** Joins texts into one string; the error prefix belongs to the text that follows it. */
const resultContent = (parts: readonly JsonObject[]): string | readonly JsonObject[] => {
  if (!parts.every(isPlainText)) return asContent(parts);
  const texts = parts.map((part) => part.text);
  return texts[0] === 'Error: ' ? `Error: ${texts.slice(1).join('\n\n')}` : texts.join('\n\n');
};

const marked = (parts: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] => {
  const all = parts.length > 0 ? parts : [{ type: 'text', text: '(no output)' }];
  return all.map((part, index) => (index === all.length - 1 ? { ...part, ...mark } : part));
};
