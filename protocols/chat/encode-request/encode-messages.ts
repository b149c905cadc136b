import type { RequestContext } from '../../../engine/model/context.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type {
  ModelRequest,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../engine/model/request.ts';
import { continuation } from '../../../engine/model/wire/continuation.ts';
import { type ChatDialect, cacheMember, takes } from '../dialect.ts';
import { wireCallId } from '../tool-names.ts';
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
  const { system, turns } = placeSystem(request, context);
  addSystem(system, note, context, messages);
  for (let index = 0; index < turns.length; ) {
    const turn = turns[index];
    let calls: readonly ToolCallPart[] = [];
    if (turn?.role === 'assistant') {
      const message = encodeAssistant(turn, context);
      calls = callsOf(turn);
      const begins = index === turns.length - 1 && calls.length === 0;
      if (message) messages.push(...(begins ? asBeginning(message, turn, context) : [message]));
      index += 1;
    }
    const from = index;
    while (index < turns.length && turns[index]?.role !== 'assistant') index += 1;
    addFollowing(calls, turns.slice(from, index), context, messages);
  }
  return messages;
};

/** The instructions at the front, and the turns after them. */
interface Placed {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

const placeSystem = ({ system, turns }: ModelRequest, { dialect, losses }: ContentContext): Placed => {
  if (dialect.systemPlace === 'anywhere') return { system, turns: joinAssistants(turns, false, losses) };
  const first = turns.findIndex(({ role }) => role !== 'system');
  const leading = turns.slice(0, first < 0 ? turns.length : first);
  for (const { extra } of leading) recordExtraLoss(extra, losses);
  return {
    system: [...system, ...leading.flatMap(({ parts }) => parts.filter((part) => part.type === 'text'))],
    turns: joinAssistants(leading.length === 0 ? turns : turns.slice(leading.length), true, losses),
  };
};

/**
 * Joins a turn with tool calls and the next assistant turn: only results may follow calls. `all`: joins all assistant turns of one
 * speaker in a row; their texts stay apart.
 */
const joinAssistants = (turns: readonly Turn[], all: boolean, losses: Losses): readonly Turn[] => {
  if (!turns.some(followsAssistant)) return turns;
  const joined: Turn[] = [];
  let open: { readonly parts: Part[]; calls: boolean; text: boolean } | undefined;
  for (const turn of turns) {
    const last = joined.at(-1);
    const calls = hasPart(turn, 'tool-call');
    const text = hasPart(turn, 'text');
    if (turn.role !== 'assistant') open = undefined;
    if (open && (open.calls || (all && last?.name === turn.name))) {
      if (!open.calls && open.text && text) open.parts.push({ type: 'text', text: '\n\n' });
      for (const part of turn.parts) open.parts.push(part);
      open.calls ||= calls;
      open.text ||= text;
      recordExtraLoss(turn.extra, losses);
    } else {
      const parts = [...turn.parts];
      joined.push({ ...turn, parts });
      open = turn.role === 'assistant' ? { parts, calls, text } : undefined;
    }
  }
  return joined;
};

const hasPart = ({ parts }: Turn, type: Part['type']): boolean => parts.some((part) => part.type === type);

const followsAssistant = ({ role }: Turn, index: number, turns: readonly Turn[]): boolean =>
  role === 'assistant' && turns[index - 1]?.role === 'assistant';

/** The final assistant message, which the reply is meant to continue, in the dialect's form. */
const asBeginning = (message: JsonObject, { at }: Turn, { dialect, losses }: ContentContext): readonly JsonObject[] => {
  switch (dialect.finalAssistant) {
    case 'prefix':
      return [{ ...message, prefix: true }];
    case 'kept':
      losses.approximate(at ?? 'messages', 'the model may start a new answer instead of continuing this text');
      return [message];
    case 'followed':
      losses.approximate(
        at ?? 'messages',
        `the user's "${continuation}" follows: the provider accepts no answer to continue`,
      );
      return [message, { role: 'user', content: continuation }];
    default:
      return dialect.finalAssistant satisfies never;
  }
};

const callsOf = (turn: Turn): readonly ToolCallPart[] => turn.parts.filter((part) => part.type === 'tool-call');

const addSystem = (
  system: readonly TextPart[],
  note: string | undefined,
  context: ContentContext,
  messages: JsonObject[],
): void => {
  const parts: JsonObject[] = [];
  for (const part of system) addText(part, context, parts);
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
  const needed = calls.length > 0 || turns.some((turn) => hasPart(turn, 'tool-result'));
  const { rest, media } = needed ? addResults(calls, turns, context, messages) : nothingAdded;
  const merges = context.dialect.systemPlace === 'first';
  /** The user message to which the next turn may be added. */
  let open: UserMessage | undefined;
  if (media.length > 0) open = { role: 'user', content: encodeParts(media, context), at: undefined, from: [] };
  for (const [index, turn] of turns.entries()) {
    const content = encodeParts(rest?.[index] ?? turn.parts, context);
    if (content.length === 0) {
      recordExtraLoss(turn.extra, context.losses);
      continue;
    }
    const moved = merges && turn.role === 'system';
    if (moved) context.losses.approximate(turn.at ?? 'messages', "the user's text");
    const role = turn.role === 'system' && !moved ? context.dialect.systemRole : 'user';
    if (open && merges && nameOf(open) === turn.name) {
      for (const part of content) open.content.push(part);
      open.from.push(turn);
    } else {
      if (open) addUser(open, context, messages);
      open = { role, content, at: turn.at, from: [turn] };
    }
  }
  if (open) addUser(open, context, messages);
};

const nothingAdded: Results = { rest: undefined, media: [] };

/** A message of the user, or with instructions, as it is collected. */
interface UserMessage {
  readonly role: string;
  readonly content: JsonObject[];
  readonly at: string | undefined;
  /** The turns that it comes from. */
  readonly from: Turn[];
}

const nameOf = ({ from }: UserMessage): string | undefined => from[0]?.name;

const addUser = (message: UserMessage, { dialect, losses }: ContentContext, messages: JsonObject[]): void => {
  const { role, content, from } = message;
  const at = message.at ?? 'messages';
  if (!dialect.userAfterTool && messages.at(-1)?.role === 'tool') {
    losses.approximate(at, `the assistant's "${done}" precedes it: the model accepts none directly after a result`);
    messages.push({ role: 'assistant', content: done });
  }
  const plain = role !== 'user' && content.every(isPlainText);
  const wire: JsonDraft = {
    role,
    content: plain ? content.map((part) => part.text).join('\n\n') : asContent(content, dialect),
  };
  const name = nameOf(message);
  if (name !== undefined) {
    if (takes(dialect, 'name')) wire.name = name;
    else losses.drop(`${at}.name`);
  }
  for (const { extra } of from) writeExtra(wire, extra, losses, refusesUnknown(dialect));
  messages.push(wire);
};

const done = 'Done.';

/** What is left of turns whose results were added. */
interface Results {
  /** The other parts of each turn; absent: all of them. */
  readonly rest: readonly (readonly Part[])[] | undefined;
  /** Media of tool results; they move to the user message that follows. */
  readonly media: readonly Part[];
}

/** Adds a message for each call's result. Returns the rest. */
const addResults = (
  calls: readonly ToolCallPart[],
  turns: readonly Turn[],
  context: AssistantContext,
  messages: JsonObject[],
): Results => {
  const open = new Map(calls.map((call) => [call.id, call]));
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
  return { rest, media };
};

/** A result without a preceding call would be rejected, so it becomes user content. */
const strayResult = (part: ToolResultPart, { losses }: ContentContext): readonly Part[] => {
  const at = part.at ?? 'messages';
  losses.approximate(at, 'a result without its call became text');
  return [{ type: 'text', text: `Result of the tool call ${part.id}:`, at }, ...part.content];
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
    content: resultContent(parts, dialect),
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
const resultContent = (parts: readonly JsonObject[], dialect: ChatDialect): string | readonly JsonObject[] => {
  if (!parts.every(isPlainText)) return asContent(parts, dialect);
  const texts = parts.map((part) => part.text);
  const text = texts[0] === 'Error: ' ? `Error: ${texts.slice(1).join('\n\n')}` : texts.join('\n\n');
  return text === '' && dialect.plainText ? noOutput : text;
};

const noOutput = '(no output)';

const marked = (parts: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] => {
  const all = parts.length > 0 ? parts : [{ type: 'text', text: noOutput }];
  return all.map((part, index) => (index === all.length - 1 ? { ...part, ...mark } : part));
};
