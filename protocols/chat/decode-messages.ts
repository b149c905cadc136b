import { fail } from '../../engine/model/fault.ts';
import type { Json, JsonObject } from '../../engine/model/json.ts';
import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../../engine/model/request.ts';
import { reader } from '../../engine/model/schema.ts';
import { decodeContent, decodeTexts } from './decode-content.ts';
import { callSignature, decodeReasoning } from './decode-reasoning.ts';
import { extraOf } from './extra.ts';
import { unsupported } from './refuse-unsupported.ts';
import { AssistantMessage, FunctionCall, PlainMessage, ToolMessage } from './schema.ts';

const plainMessage = reader(PlainMessage);
const assistantMessage = reader(AssistantMessage);
const toolMessage = reader(ToolMessage);
const functionCall = reader(FunctionCall);
const plainMembers = new Set(['role', 'content', 'name']);
const assistantMembers = new Set([
  ...plainMembers,
  'refusal',
  'tool_calls',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
]);
/** Replies have an empty list of annotations even where there is none. */
const bareMembers = new Set([...assistantMembers, 'annotations']);
const toolMembers = new Set(['role', 'content', 'tool_call_id']);
const functionCallMembers = new Set(['id', 'type', 'function', 'index']);

/** What `messages` add up to. */
export interface Conversation {
  /** The instructions of all leading system and developer messages. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

/** `messages` → instructions and turns. Throws for a message that breaks the format or that this route can't carry. */
export const decodeMessages = (messages: readonly JsonObject[]): Conversation => {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  /** The results of the tool messages that stand in a row. */
  let results: Part[] | undefined;
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === 'tool') {
      const result = decodeResult(message, at);
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
        turns.push(decodeAssistant(message, at));
        break;
      case 'function':
        unsupported(`${at}.role`, `${at}.role "function" is not supported; use tools and role "tool".`);
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

/** A leading instruction has no turn of its own, so what its message held beside the text stays with its first part. */
const decodeInstructions = (message: JsonObject, at: string): TextPart[] => {
  const [first, ...rest] = decodeTexts(plainMessage.read(message, at).content, `${at}.content`);
  if (!first) return [];
  const outer = extraOf(message, instructionMembers, at);
  if (!outer) return [first, ...rest];
  return [{ ...first, extra: { wire: 'chat', at: first.at ?? at, fields: {}, ...first.extra, outer } }, ...rest];
};

const instructionMembers = new Set(['role', 'content']);

const decodeAssistant = (raw: JsonObject, at: string): Turn => {
  for (const field of ['function_call', 'audio']) {
    if (raw[field] !== undefined && raw[field] !== null) unsupported(`${at}.${field}`);
  }
  const message = assistantMessage.read(raw, at);
  const calls = message.tool_calls ?? [];
  const parts: Part[] = [
    ...decodeReasoning(message, at),
    ...decodeContent(message.content ?? '', `${at}.content`, ['text', 'refusal']),
    ...(message.refusal ? [{ type: 'refusal' as const, text: message.refusal, at: `${at}.refusal` }] : []),
    ...calls.map((call, index) => decodeCall(call, `${at}.tool_calls[${index}]`, message)),
  ];
  return {
    role: 'assistant',
    parts,
    name: message.name ?? undefined,
    at,
    extra: extraOf(raw, isEmpty(raw.annotations) ? bareMembers : assistantMembers, at),
  };
};

const isEmpty = (list: Json | undefined): boolean => Array.isArray(list) && list.length === 0;

const decodeCall = (call: JsonObject, at: string, message: AssistantMessage): ToolCallPart => {
  if (call.type !== 'function' && call.type !== undefined && call.type !== null) {
    return unsupported(`${at}.type`, `${at}.type must be function on this route.`);
  }
  const { id, function: called } = functionCall.read(call, at);
  const extra = extraOf(call, functionCallMembers, at);
  const input = called.arguments ?? '';
  return { type: 'tool-call', id, name: called.name, input, signature: callSignature(message, id), at, extra };
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
