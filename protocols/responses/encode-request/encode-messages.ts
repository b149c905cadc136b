import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import {
  inputObject,
  inputText,
  type Part,
  type RedactedThinkingPart,
  type RefusalPart,
  type TextPart,
  type ThinkingPart,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
} from '../../../engine/model/request.ts';
import { builtIns } from '../built-in-tools.ts';
import {
  type ContentContext,
  encodeAnswer,
  encodeContent,
  encodeExtra,
  isOwn,
  markCache,
  ownObjects,
} from './encode-content.ts';

/** Turns → input items, in order. Source: OpenAI API reference, "Create a model response", `input`. */
export const encodeTurns = (turns: readonly Turn[], context: ContentContext): readonly JsonObject[] => {
  const items = turns.flatMap((turn) => [...context.toolItems.before(turn.at), ...encodeTurn(turn, context)]);
  const last = turns.at(-1);
  if (last?.role === 'assistant' && !isOwn(last.at)) {
    context.losses.approximate(last.at ?? 'input', 'the model starts a new answer instead of continuing this text');
  }
  return items;
};

/** The instructions as they go out. */
interface Instructions {
  /** The member of this name; empty: none. */
  readonly instructions: string;
  /** The messages at the start of the input. */
  readonly messages: readonly JsonObject[];
}

/**
 * Encodes the instructions. Those of a client of this protocol stay where they were. Others become one message at the start: the
 * newest models put the member `instructions` behind the input, where no cache holds it. Source: OpenAI guide "Keep the prefix
 * unchanged", as of November 2026.
 */
export const encodeSystem = (system: readonly TextPart[], context: ContentContext): Instructions => {
  const placed = (place: Place): readonly TextPart[] => system.filter((part) => placeOf(part) === place);
  const members = placed('member');
  for (const part of members) {
    markCache(part, { ...context, cacheMarks: false });
    encodeExtra(part.extra, context.losses);
  }
  const content = encodeContent(placed('front'), context);
  return {
    instructions: members.map(({ text }) => text).join('\n\n'),
    messages: [
      ...(content.length > 0 ? [{ role: 'developer', content }] : []),
      ...placed('message').flatMap((part) => [
        ...context.toolItems.before(part.at),
        {
          role: 'developer',
          content: encodeContent([part], context),
          ...(part.extra?.wire === 'responses' && part.extra.outer?.fields),
        },
      ]),
    ],
  };
};

/** The place of an instruction: into the member or a message of its own, as it came, or to the front. */
type Place = 'member' | 'message' | 'front';

const placeOf = ({ at }: TextPart): Place => {
  if (at?.startsWith('instructions')) return 'member';
  return at?.startsWith('input') ? 'message' : 'front';
};

const encodeTurn = (turn: Turn, context: ContentContext): readonly JsonObject[] => {
  if (turn.name !== undefined) context.losses.drop(`${turn.at ?? turn.role}.name`);
  switch (turn.role) {
    case 'system':
      return message('developer', turn, turn.parts, context);
    case 'user':
      return encodeUser(turn, context);
    case 'assistant':
      encodeExtra(turn.extra, context.losses);
      return encodeAssistant(turn.parts, context);
    default:
      return turn.role satisfies never;
  }
};

/** Encodes a user turn. Call outputs come first: they must directly follow their calls. */
const encodeUser = (turn: Turn, context: ContentContext): readonly JsonObject[] => {
  const items: JsonObject[] = [];
  const rest: Part[] = [];
  for (const part of turn.parts) {
    const own = ownObjects(part, context);
    if (own) items.push(...own);
    else if (part.type === 'tool-result') items.push(encodeOutput(part, context));
    else if (part.type === 'opaque' && part.wire === 'responses') items.push(part.raw);
    else rest.push(part);
  }
  return [...items, ...message('user', turn, rest, context)];
};

const message = (
  role: 'user' | 'developer',
  { extra }: Turn,
  parts: readonly Part[],
  context: ContentContext,
): readonly JsonObject[] => {
  const members = encodeExtra(extra, context.losses);
  const content = encodeContent(parts, context);
  return content.length > 0 ? [{ role, content, ...members }] : [];
};

const encodeOutput = (part: ToolResultPart, context: ContentContext): JsonObject => {
  const { id, content, isError, at } = part;
  const path = at ?? 'tool_result';
  if (part.cache) context.losses.drop(`${path}.cache_control`);
  if (isError) context.losses.approximate(`${path}.is_error`, 'a prefix of the output');
  const output = outputOf(encodeContent(content, { ...context, place: 'tool output' }), isError ? 'Error: ' : '');
  return {
    type: context.customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: context.callId(id),
    output,
    ...encodeExtra(part.extra, context.losses),
  };
};

/** A single plain text, or nothing, becomes a string. */
const outputOf = (content: readonly JsonObject[], prefix: string): string | readonly JsonObject[] => {
  const [first, second] = content;
  if (first === undefined) return prefix;
  const bare = second === undefined && first.type === 'input_text' && Object.keys(first).length === 2;
  if (bare) return `${prefix}${first.text}`;
  return prefix === '' ? content : [{ type: 'input_text', text: prefix }, ...content];
};

const encodeAssistant = (parts: readonly Part[], context: ContentContext): readonly JsonObject[] => {
  const items: JsonObject[] = [];
  let answer: JsonObject[] | undefined;
  const lastOutput = parts.findLastIndex(isOutput);
  parts.forEach((part, index) => {
    const written = ownObjects(part, context);
    if (written) {
      answer = undefined;
      items.push(...written);
      return;
    }
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') return;
      const own = part.extra?.wire === 'responses' ? part.extra.outer?.fields : undefined;
      // Only the first part carries the message's other members.
      if (answer === undefined || own) {
        answer = [];
        items.push({ role: 'assistant', content: answer, ...own });
      }
      answer.push(encodeAnswer(part, context));
      return;
    }
    answer = undefined;
    const item = encodeItem(part, index < lastOutput, context);
    if (item) items.push(item);
  });
  return items;
};

/** Whether a part may follow reasoning as its output item. */
const isOutput = (part: Part): boolean =>
  part.type === 'tool-call' ||
  ((part.type === 'text' || part.type === 'refusal') && part.text !== '') ||
  (part.type === 'opaque' && part.wire === 'responses');

const encodeItem = (
  part: Exclude<Part, TextPart | RefusalPart>,
  followed: boolean,
  context: ContentContext,
): JsonObject | undefined => {
  switch (part.type) {
    case 'thinking':
    case 'redacted-thinking':
      return encodeReasoning(part, followed, context);
    case 'tool-call':
      return encodeCall(part, context);
    case 'opaque':
      if (part.wire === 'responses') return part.raw;
      context.losses.drop(part.at ?? part.type, 'a block specific to another protocol');
      return undefined;
    default:
      context.losses.drop(part.at ?? part.type, "no place in an assistant's turn");
      return undefined;
  }
};

/**
 * Sends reasoning only to the issuer of its signature, and only with its output item: the vendor rejects anything
 * else.
 */
const encodeReasoning = (
  part: ThinkingPart | RedactedThinkingPart,
  followed: boolean,
  context: ContentContext,
): JsonObject | undefined => {
  const { signature, at } = part;
  if (signature?.format !== 'responses') {
    context.losses.drop(at ?? 'thinking', 'reasoning of another provider');
    return undefined;
  }
  if (!followed) {
    context.losses.drop(at ?? 'thinking', 'reasoning that nothing follows');
    return undefined;
  }
  const text = part.type === 'thinking' ? part.text : '';
  const signed = signature.data !== '';
  const item: JsonDraft = { type: 'reasoning', summary: signed && text !== '' ? [{ type: 'summary_text', text }] : [] };
  if (signed) item.encrypted_content = signature.data;
  else item.content = [{ type: 'reasoning_text', text }];
  return { ...item, ...encodeExtra(part.extra, context.losses) };
};

const encodeCall = (part: ToolCallPart, context: ContentContext): JsonObject => {
  if (part.signature?.data) context.losses.drop(`${part.at ?? part.type}.signature`, 'reasoning of another provider');
  const { kind, name, namespace } = context.tool(part.name);
  markCache(part, { ...context, cacheMarks: false });
  const call = { call_id: context.callId(part.id), name, ...(namespace !== undefined && { namespace }) };
  const members = encodeExtra(part.extra, context.losses);
  if (kind === 'function') return { type: 'function_call', ...call, arguments: inputText(part.input), ...members };
  if (kind !== 'custom') {
    const { call: type, write } = builtIns[kind];
    return { type, call_id: call.call_id, status: 'completed', ...write(inputObject(part.input) ?? {}), ...members };
  }
  context.customCalls.add(part.id);
  const input = inputObject(part.input)?.input;
  return {
    type: 'custom_tool_call',
    ...call,
    input: typeof input === 'string' ? input : inputText(part.input),
    ...members,
  };
};
