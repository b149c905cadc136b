import { fail } from '../../engine/model/fault.ts';
import { asJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import type { Extra, Part, TextPart, Turn } from '../../engine/model/request.ts';
import { memberPath, reader } from '../../engine/model/schema.ts';
import { append, type Conversation, type DraftTurn } from './conversation.ts';
import { decodeContent, extraOf } from './decode-content.ts';
import { decodeReasoning } from './decode-reasoning.ts';
import { decodeCustomCall, decodeFunctionCall, decodeOutput } from './decode-tool-calls.ts';
import type { DecodedTools } from './decode-tools.ts';
import { MessageItem, ReferenceItem } from './schema-request.ts';

const messageReader = reader(MessageItem);
const referenceReader = reader(ReferenceItem);

/** The conversation of an `input` list. */
interface DecodedItems {
  /** The leading instructions. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

/**
 * Decodes the `input` list. Consecutive items of the model form one turn, and so do consecutive call outputs; each
 * message is a turn. Throws an `invalid-request` fault that names the item. Source: OpenAI API reference, "Create a
 * model response", `input`.
 */
export const decodeItems = (
  input: readonly object[],
  nameOf: DecodedTools['nameOf'],
  stateful: boolean,
): DecodedItems => {
  const items = input.map(asJsonObject);
  const ids = new Set(items.flatMap((item) => (typeof item.id === 'string' && !isReference(item) ? [item.id] : [])));
  const state: Conversation = {
    nameOf,
    system: [],
    turns: [],
    ids,
    calls: new Set(),
    stateful,
    callSignatures: new Map(),
  };
  items.forEach((item, index) => {
    decodeItem(state, item, memberPath('input', index));
  });
  return { system: state.system, turns: state.turns.filter(({ parts }) => parts.length > 0).map(toTurn) };
};

const toTurn = ({ role, parts, at, extra }: DraftTurn): Turn => ({ role, parts, at, ...(extra && { extra }) });

const isReference = (item: JsonObject): boolean =>
  item.type === 'item_reference' || ((item.type ?? null) === null && !('role' in item) && 'id' in item);

const decodeItem = (state: Conversation, item: JsonObject, at: string): void => {
  switch (isReference(item) ? 'item_reference' : (item.type ?? 'message')) {
    case 'item_reference':
      checkReference(state, item, at);
      break;
    case 'message':
      decodeMessage(state, item, at);
      break;
    case 'reasoning':
      decodeReasoning(state, item, at);
      break;
    case 'function_call':
      decodeFunctionCall(state, item, at);
      break;
    case 'custom_tool_call':
      decodeCustomCall(state, item, at);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      decodeOutput(state, item, at);
      break;
    default:
      decodeOpaque(state, item, at);
  }
};

/** A reference to an item of the input adds nothing. */
const checkReference = (state: Conversation, item: JsonObject, at: string): void => {
  const { id } = referenceReader.read(item, at);
  if (state.ids.has(id)) return;
  const param = memberPath(at, 'id');
  fail('invalid-request', `${param}: item '${id}' is not in the input, and no items are kept here.`, { param });
};

const decodeMessage = (state: Conversation, item: JsonObject, at: string): void => {
  const { role, content } = messageReader.read(item, at);
  const parts = decodeContent(content, memberPath(at, 'content'));
  const extra = extraOf(item, ['type', 'role', 'content', 'id', 'status'], at);
  if (role === 'user') {
    state.turns.push({ role, parts: [...parts], at, extra, open: false });
  } else if (role === 'assistant') {
    // The turn holds several items; this message's other members go to its first part.
    const [first, ...rest] = around(extra, parts);
    if (first) append(state, 'assistant', at, first, ...rest);
  } else {
    const texts = parts.map((part, index) => asText(part, `${at}.content[${index}]`));
    if (state.turns.length === 0) state.system.push(...around(extra, texts));
    else state.turns.push({ role: 'system', parts: texts, at, extra, open: false });
  }
};

/** Adds the message's other members to its first part. */
const around = <P extends Part>(outer: Extra | undefined, [first, ...rest]: readonly P[]): readonly P[] => {
  if (!first) return [];
  if (!outer) return [first, ...rest];
  return [
    { ...first, extra: { wire: 'responses', at: first.at ?? outer.at, fields: {}, ...first.extra, outer } },
    ...rest,
  ];
};

const asText = (part: Part, at: string): TextPart =>
  part.type === 'text' ? part : fail('invalid-request', `${at}: instructions hold text only.`, { param: at });

/** Decodes an item of a hosted tool. Outputs and approvals come from the client. */
const decodeOpaque = (state: Conversation, item: JsonObject, at: string): void => {
  if (typeof item.type !== 'string') {
    fail('invalid-request', `${at}.type must be string.`, { param: memberPath(at, 'type') });
    return;
  }
  const answers = /_(output|response)$/.test(item.type);
  if (typeof item.call_id === 'string' && !answers) state.calls.add(item.call_id);
  append(state, answers ? 'user' : 'assistant', at, { type: 'opaque', wire: 'responses', raw: item, at });
};
