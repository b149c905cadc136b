import { fail } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { FunctionTool, ToolCallPart, ToolChoice, ToolResultPart } from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { decodeContent, extraOf } from './decode-content.ts';
import { LegacyCall, LegacyChoice, LegacyFunction, LegacyResult } from './schema-request.ts';

const legacyFunction = reader(LegacyFunction);
const legacyCall = reader(LegacyCall);
const legacyResult = reader(LegacyResult);
const legacyChoice = reader(LegacyChoice);
const functionMembers = new Set(Object.keys(LegacyFunction.properties));
const callMembers = new Set(Object.keys(LegacyCall.properties));
const resultMembers = new Set(['role', ...Object.keys(LegacyResult.properties)]);

/** `functions` → tools. Source: OpenAI API reference, "Create chat completion", deprecated fields. */
export const decodeFunctions = (functions: readonly JsonObject[]): readonly FunctionTool[] =>
  functions.map((raw, index) => {
    const at = `functions[${index}]`;
    const { name, description, parameters } = legacyFunction.read(raw, at);
    return {
      type: 'function',
      name,
      description: description ?? undefined,
      parameters: parameters ?? undefined,
      at,
      extra: extraOf(raw, functionMembers, at),
    };
  });

/** A request's `function_call` → choice. */
export const decodeFunctionChoice = (choice: string | JsonObject | null | undefined): ToolChoice | undefined => {
  if (choice === null || choice === undefined) return undefined;
  if (choice === 'none' || choice === 'auto') return { type: choice };
  if (typeof choice !== 'string') return { type: 'tool', name: legacyChoice.read(choice, 'function_call').name };
  return fail('invalid-request', 'function_call must be none, auto or an object.', { param: 'function_call' });
};

/** Number of calls of each function so far. The older format has no ids: a result belongs to the newest call of its name. */
export type CallCounts = Map<string, number>;

/** An assistant's `function_call` → call. */
export const decodeFunctionCall = (raw: JsonObject, at: string, counts: CallCounts): ToolCallPart => {
  const { name, arguments: input } = legacyCall.read(raw, at);
  counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    type: 'tool-call',
    id: idOf(name, counts),
    name,
    input: input ?? '',
    at,
    extra: extraOf(raw, callMembers, at),
  };
};

/** A message with the role `function` → tool result. */
export const decodeFunctionResult = (raw: JsonObject, at: string, counts: CallCounts): ToolResultPart => {
  const { name, content } = legacyResult.read(raw, at);
  return {
    type: 'tool-result',
    id: idOf(name, counts),
    content: decodeContent(content ?? '', `${at}.content`, ['text']),
    at,
    extra: extraOf(raw, resultMembers, at),
  };
};

const idOf = (name: string, counts: CallCounts): string => `call_${name}_${counts.get(name) ?? 0}`;
