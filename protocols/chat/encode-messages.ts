import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { RequestContext } from '../../engine/model/protocol.ts';
import type { ModelRequest, Part, ToolCallPart, ToolResultPart, Turn } from '../../engine/model/request.ts';
import type { ChatDialect } from './dialect.ts';
import { type AssistantContext, encodeAssistant } from './encode-assistant.ts';
import { asContent, type ContentContext, encodeParts, encodeText } from './encode-content.ts';
import { encodeToolResult } from './encode-tool-result.ts';
import { writeExtra } from './extra.ts';
import { refusesUnknown, takes } from './takes.ts';

/**
 * Instructions and turns → `messages`. The wire wants each call answered by one tool message right after the assistant's, so
 * results move to the front of what follows it, and a call without any gets one. `note` is an instruction of ours.
 */
export const encodeMessages = (
  request: ModelRequest,
  dialect: ChatDialect,
  { names, losses }: RequestContext,
  note: string | undefined,
): JsonObject[] => {
  const context: AssistantContext = { model: request.model, dialect, losses, names, request };
  const messages: JsonObject[] = [...encodeSystem(request, note, context)];
  const turns = joinCallers(request.turns);
  for (let index = 0; index < turns.length; ) {
    const turn = turns[index];
    const following: Turn[] = [];
    if (turn?.role === 'assistant') {
      const message = encodeAssistant(turn, context);
      const begins = index === turns.length - 1 && callsOf(turn).length === 0;
      if (message) messages.push(begins ? asBeginning(message, turn, context) : message);
      index += 1;
    }
    for (let next = turns[index]; next && next.role !== 'assistant'; next = turns[index]) {
      following.push(next);
      index += 1;
    }
    messages.push(...encodeFollowing(turn?.role === 'assistant' ? callsOf(turn) : [], following, context));
  }
  return messages;
};

/** A turn that calls tools and the assistant's next one are one message: nothing may stand between calls and results. */
const joinCallers = (turns: readonly Turn[]): readonly Turn[] => {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === 'assistant' && turn.role === 'assistant' && callsOf(last).length > 0) {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else joined.push(turn);
  }
  return joined;
};

/** The assistant's message at the end: the client wants the answer to go on from there. */
const asBeginning = (message: JsonObject, { at }: Turn, { dialect, losses }: ContentContext): JsonObject => {
  if (dialect.prefix) return { ...message, prefix: true };
  losses.approximate(at ?? 'messages', 'the model may answer anew instead of going on with this text');
  return message;
};

const callsOf = (turn: Turn): readonly ToolCallPart[] => turn.parts.filter((part) => part.type === 'tool-call');

const encodeSystem = (request: ModelRequest, note: string | undefined, context: ContentContext): JsonObject[] => {
  const parts = request.system.flatMap((part) => encodeText(part, context));
  if (note !== undefined) parts.push({ type: 'text', text: note });
  if (parts.length === 0) return [];
  const marked = parts.some((part) => Object.keys(part).length > 2);
  const content = marked ? parts : parts.map((part) => part.text).join('\n\n');
  return [{ role: context.dialect.systemRole, content }];
};

/** The user's and system's turns between two of the assistant's, whose last `calls` they answer. */
const encodeFollowing = (
  calls: readonly ToolCallPart[],
  turns: readonly Turn[],
  context: ContentContext,
): readonly JsonObject[] => {
  const open = new Map(calls.map((call) => [call.id, call]));
  const answers: JsonObject[] = [];
  const rest: { readonly turn: Turn; readonly parts: readonly Part[] }[] = [];
  /** Media out of tool results, which go to the user message behind them. */
  const media: Part[] = [];
  for (const turn of turns) {
    const others: Part[] = [];
    for (const part of turn.parts) {
      if (part.type !== 'tool-result') others.push(part);
      else if (open.delete(part.id)) answers.push(encodeToolResult(part, context, media));
      else others.push(...strayResult(part, context));
    }
    rest.push({ turn, parts: others });
  }
  for (const call of open.values()) {
    context.losses.approximate(call.at ?? 'messages', 'a call without a result got an empty one');
    answers.push({ role: 'tool', tool_call_id: call.id, content: 'Error: this call has no result.' });
  }
  const mediaMessage = media.length > 0 ? [{ role: 'user', content: encodeParts(media, context) }] : [];
  return [...answers, ...mediaMessage, ...rest.flatMap(({ turn, parts }) => encodeTurn(turn, parts, context))];
};

/** A result of no call that came just before would be refused, so it becomes the user's words. */
const strayResult = (part: ToolResultPart, { losses }: ContentContext): readonly Part[] => {
  const at = part.at ?? 'messages';
  losses.approximate(at, 'a result without its call became text');
  return [{ type: 'text', text: `Result of the tool call ${part.id}:`, at }, ...part.content];
};

const encodeTurn = (turn: Turn, parts: readonly Part[], context: ContentContext): JsonObject[] => {
  const { losses, dialect, model } = context;
  const content = encodeParts(parts, context);
  if (content.length === 0) {
    dropExtra(turn.extra, losses);
    return [];
  }
  const system = turn.role === 'system';
  const plain = system && content.every((part) => Object.keys(part).length === 2);
  const message: JsonDraft = {
    role: system ? dialect.systemRole : 'user',
    content: plain ? content.map((part) => part.text).join('\n\n') : asContent(content),
  };
  if (turn.name !== undefined) {
    if (takes(dialect, model, 'name')) message.name = turn.name;
    else losses.drop(`${turn.at ?? 'messages'}.name`);
  }
  writeExtra(message, turn.extra, losses, refusesUnknown(dialect));
  return [message];
};
