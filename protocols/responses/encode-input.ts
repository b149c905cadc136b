import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type {
  Part,
  RedactedThinkingPart,
  RefusalPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../engine/model/request.ts';
import { inputObject, inputText } from '../../engine/model/tool-input.ts';
import { encodeAnswer, encodeContent, isOwn, markCache } from './encode-content.ts';
import type { Encoding } from './encoding.ts';
import { keepExtra } from './keep-extra.ts';

/** Turns → input items, in order. Source: OpenAI API reference, "Create a model response", `input`. */
export const encodeTurns = (turns: readonly Turn[], encoding: Encoding): readonly JsonObject[] => {
  const items = turns.flatMap((turn) => encodeTurn(turn, encoding));
  const last = turns.at(-1);
  if (last?.role === 'assistant' && !isOwn(last.at)) {
    encoding.losses.approximate(last.at ?? 'input', 'the model answers anew instead of going on with this text');
  }
  return items;
};

/** Instructions that a client of this protocol wrote as messages stay messages. */
export const encodeInstruction = (part: TextPart, encoding: Encoding): JsonObject => ({
  role: 'developer',
  content: encodeContent([part], encoding),
  ...(part.extra?.wire === 'responses' && part.extra.outer?.fields),
});

const encodeTurn = (turn: Turn, encoding: Encoding): readonly JsonObject[] => {
  if (turn.name !== undefined) encoding.losses.drop(`${turn.at ?? turn.role}.name`);
  switch (turn.role) {
    case 'system':
      return message('developer', turn, turn.parts, encoding);
    case 'user':
      return encodeUser(turn, encoding);
    case 'assistant':
      keepExtra(turn.extra, encoding.losses);
      return encodeAssistant(turn.parts, encoding);
    default:
      return turn.role satisfies never;
  }
};

/** Outputs of calls come first: they must follow their calls at once. */
const encodeUser = (turn: Turn, encoding: Encoding): readonly JsonObject[] => {
  const items: JsonObject[] = [];
  const rest: Part[] = [];
  for (const part of turn.parts) {
    if (part.type === 'tool-result') items.push(encodeOutput(part, encoding));
    else if (part.type === 'opaque' && part.wire === 'responses') items.push(part.raw);
    else rest.push(part);
  }
  return [...items, ...message('user', turn, rest, encoding)];
};

const message = (
  role: 'user' | 'developer',
  { extra }: Turn,
  parts: readonly Part[],
  encoding: Encoding,
): readonly JsonObject[] => {
  const members = keepExtra(extra, encoding.losses);
  const content = encodeContent(parts, encoding);
  return content.length > 0 ? [{ role, content, ...members }] : [];
};

const encodeOutput = (part: ToolResultPart, encoding: Encoding): JsonObject => {
  const { id, content, isError, at } = part;
  const path = at ?? 'tool_result';
  if (part.cache) encoding.losses.drop(`${path}.cache_control`);
  if (isError) encoding.losses.approximate(`${path}.is_error`, 'a prefix of the output');
  const output = outputOf(encodeContent(content, { ...encoding, place: 'tool output' }), isError ? 'Error: ' : '');
  return {
    type: encoding.customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: encoding.callId(id),
    output,
    ...keepExtra(part.extra, encoding.losses),
  };
};

/** One bare text, or nothing at all, is written as a string. */
const outputOf = (content: readonly JsonObject[], prefix: string): string | readonly JsonObject[] => {
  const [first, second] = content;
  if (first === undefined) return prefix;
  const bare = second === undefined && first.type === 'input_text' && Object.keys(first).length === 2;
  if (bare) return `${prefix}${first.text}`;
  return prefix === '' ? content : [{ type: 'input_text', text: prefix }, ...content];
};

const encodeAssistant = (parts: readonly Part[], encoding: Encoding): readonly JsonObject[] => {
  const items: JsonObject[] = [];
  let answer: JsonObject[] | undefined;
  parts.forEach((part, index) => {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text === '') return;
      const own = part.extra?.wire === 'responses' ? part.extra.outer?.fields : undefined;
      // Only the first part of a message has what the message says beside its parts.
      if (answer === undefined || own) {
        answer = [];
        items.push({ role: 'assistant', content: answer, ...own });
      }
      answer.push(encodeAnswer(part, encoding));
      return;
    }
    answer = undefined;
    const followed = parts.slice(index + 1).some(isOutput);
    const item = encodeItem(part, followed, encoding);
    if (item) items.push(item);
  });
  return items;
};

/** What may follow reasoning as the item that it led to. */
const isOutput = (part: Part): boolean =>
  part.type === 'tool-call' ||
  ((part.type === 'text' || part.type === 'refusal') && part.text !== '') ||
  (part.type === 'opaque' && part.wire === 'responses');

const encodeItem = (
  part: Exclude<Part, TextPart | RefusalPart>,
  followed: boolean,
  encoding: Encoding,
): JsonObject | undefined => {
  switch (part.type) {
    case 'thinking':
    case 'redacted-thinking':
      return encodeReasoning(part, followed, encoding);
    case 'tool-call':
      return encodeCall(part, encoding);
    case 'opaque':
      if (part.wire === 'responses') return part.raw;
      encoding.losses.drop(part.at ?? part.type, 'a block that only another protocol knows');
      return undefined;
    default:
      encoding.losses.drop(part.at ?? part.type, "no place in an assistant's turn");
      return undefined;
  }
};

/** Reasoning goes back to those who minted it only, and never without the item that it led to: the vendor refuses both. */
const encodeReasoning = (
  part: ThinkingPart | RedactedThinkingPart,
  followed: boolean,
  encoding: Encoding,
): JsonObject | undefined => {
  const { signature, at } = part;
  if (signature?.format !== 'responses') {
    encoding.losses.drop(at ?? 'thinking', 'reasoning of another provider');
    return undefined;
  }
  if (!followed) {
    encoding.losses.drop(at ?? 'thinking', 'reasoning that nothing follows');
    return undefined;
  }
  const text = part.type === 'thinking' ? part.text : '';
  const sealed = signature.data !== '';
  const item: JsonDraft = { type: 'reasoning', summary: sealed && text !== '' ? [{ type: 'summary_text', text }] : [] };
  if (sealed) item.encrypted_content = signature.data;
  else item.content = [{ type: 'reasoning_text', text }];
  return { ...item, ...keepExtra(part.extra, encoding.losses) };
};

const encodeCall = (part: ToolCallPart, encoding: Encoding): JsonObject => {
  if (part.signature?.data) encoding.losses.drop(`${part.at ?? part.type}.signature`, 'reasoning of another provider');
  const { kind, name, namespace } = encoding.tool(part.name);
  markCache(part, { ...encoding, cacheMarks: false });
  const call = { call_id: encoding.callId(part.id), name, ...(namespace !== undefined && { namespace }) };
  const members = keepExtra(part.extra, encoding.losses);
  if (kind === 'function') return { type: 'function_call', ...call, arguments: inputText(part.input), ...members };
  encoding.customCalls.add(part.id);
  const input = inputObject(part.input)?.input;
  return {
    type: 'custom_tool_call',
    ...call,
    input: typeof input === 'string' ? input : inputText(part.input),
    ...members,
  };
};
