import { fail, unsupported } from '../../../engine/model/fault.ts';
import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { decodeContent, decodeTexts, extraOf, unsupportedWhileStrict } from './decode-content.ts';
import { callSignatures, decodeReasoning } from './decode-reasoning.ts';
import { type CallCounts, decodeFunctionCall, decodeFunctionResult } from './legacy-functions.ts';
import { AssistantMessage, FunctionCall, PlainMessage, ToolMessage } from './schema-request.ts';

const plainMessage = reader(PlainMessage);
const assistantMessage = reader(AssistantMessage);
const toolMessage = reader(ToolMessage);
const functionCall = reader(FunctionCall);
const plainMembers = new Set(['role', 'content', 'name']);
const assistantMembers = new Set([
  ...plainMembers,
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
]);
/** Replies carry `annotations` even when the list is empty. */
const bareMembers = new Set([...assistantMembers, 'annotations']);
const toolMembers = new Set(['role', 'content', 'tool_call_id']);
const functionCallMembers = new Set(['id', 'type', 'function', 'index']);

/** The conversation that `messages` holds. */
interface Conversation {
  /** The instructions: all leading system and developer messages. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

/**
 * `messages` → instructions and turns. Throws for an invalid message and for one that this endpoint doesn't support.
 */
export const decodeMessages = (messages: readonly JsonObject[], strict: boolean): Conversation => {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  const counts: CallCounts = new Map();
  /** The results of consecutive tool messages. */
  let results: Part[] | undefined;
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === 'function' && strict) unsupportedWhileStrict(`${at}.role`, `${at}.role "function"`);
    if (message.role === 'tool' || message.role === 'function') {
      const result = message.role === 'tool' ? decodeResult(message, at) : decodeFunctionResult(message, at, counts);
      if (results) results.push(result);
      else {
        results = [result];
        turns.push({ role: 'user', parts: results, at });
      }
      continue;
    }
    results = undefined;
    switch (message.role) {
      case 'system':
      case 'developer':
        if (turns.length === 0) system.push(...decodeInstructions(message, at));
        else turns.push(decodePlain(message, at, 'system'));
        break;
      case 'user':
        turns.push(decodePlain(message, at, 'user'));
        break;
      case 'assistant':
        turns.push(decodeAssistant(message, at, strict, counts));
        break;
      default:
        fail('invalid-request', `${at}.role must be system, developer, user, assistant or tool.`, {
          param: `${at}.role`,
        });
    }
  }
  return { system, turns };
};

const decodePlain = (message: JsonObject, at: string, role: 'user' | 'system'): Turn => {
  const { content, name } = plainMessage.read(message, at);
  const where = `${at}.content`;
  const parts = role === 'system' ? decodeTexts(content, where) : decodeContent(content, where, ['text', 'image_url']);
  return { role, parts, name: name ?? undefined, at, extra: extraOf(message, plainMembers, at) };
};

/** A leading instruction has no turn, so its message's other members go to its first part. */
const decodeInstructions = (message: JsonObject, at: string): TextPart[] => {
  const texts = decodeTexts(plainMessage.read(message, at).content, `${at}.content`);
  const outer = extraOf(message, instructionMembers, at);
  const [first, ...rest] = outer ? texts : [];
  if (!first) return texts;
  return [{ ...first, extra: { wire: 'chat', at: first.at ?? at, fields: {}, ...first.extra, outer } }, ...rest];
};

const instructionMembers = new Set(['role', 'content']);

const decodeAssistant = (raw: JsonObject, at: string, strict: boolean, counts: CallCounts): Turn => {
  if (raw.audio !== undefined && raw.audio !== null) unsupported(`${at}.audio`);
  if (strict && raw.function_call !== undefined && raw.function_call !== null) {
    unsupportedWhileStrict(`${at}.function_call`);
  }
  const message = assistantMessage.read(raw, at);
  const calls = message.tool_calls ?? [];
  const signatures = calls.length > 0 ? callSignatures(message) : undefined;
  const reasoning = decodeReasoning(message, at);
  const content = decodeContent(message.content ?? '', `${at}.content`, ['text', 'refusal']);
  const parts = reasoning.length > 0 ? [...reasoning, ...content] : content;
  if (message.refusal) parts.push({ type: 'refusal', text: message.refusal, at: `${at}.refusal` });
  for (const [index, call] of calls.entries()) parts.push(decodeCall(call, `${at}.tool_calls[${index}]`, signatures));
  if (message.function_call) parts.push(decodeFunctionCall(message.function_call, `${at}.function_call`, counts));
  return {
    role: 'assistant',
    parts,
    name: message.name ?? undefined,
    at,
    extra: extraOf(raw, isEmpty(raw.annotations) ? bareMembers : assistantMembers, at),
  };
};

const isEmpty = (list: Json | undefined): boolean => Array.isArray(list) && list.length === 0;

const decodeCall = (
  call: JsonObject,
  at: string,
  signatures: ReadonlyMap<string, Signature> | undefined,
): ToolCallPart => {
  if (call.type !== 'function' && call.type !== undefined && call.type !== null) {
    return unsupported(`${at}.type`, `${at}.type must be function on this route.`);
  }
  const { id, function: called } = functionCall.read(call, at);
  const extra = extraOf(call, functionCallMembers, at);
  const input = called.arguments ?? '';
  return { type: 'tool-call', id, name: called.name, input, signature: signatures?.get(id), at, extra };
};

const decodeResult = (message: JsonObject, at: string): ToolResultPart => {
  const { tool_call_id, content } = toolMessage.read(message, at);
  return {
    type: 'tool-result',
    id: tool_call_id,
    content: decodeContent(content, `${at}.content`, ['text', 'image_url']),
    at,
    extra: extraOf(message, toolMembers, at),
  };
};
