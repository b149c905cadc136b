import { isJsonObject, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { type Signature, writeSignature } from '../../../engine/model/reasoning/signature.ts';
import { builtIns } from '../built-in-tools.ts';
import type { CalledTool } from '../tool-names.ts';

/** An item's status. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A text part of a message. Source, here and below: OpenAI API reference, "The response object", `output`. */
export const textPart = (text: string, annotations: readonly JsonObject[]): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
  logprobs: [],
});

export const refusalPart = (refusal: string): JsonObject => ({ type: 'refusal', refusal });

export const messageItem = (id: string, status: ItemStatus, content: readonly JsonObject[]): JsonObject => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

/** A reasoning item. `summary` has at most one text, and none for redacted reasoning. */
export const reasoningItem = (id: string, summary: readonly string[], payload: string | undefined): JsonObject => ({
  id,
  type: 'reasoning',
  summary: summary.map(summaryPart),
  ...(payload !== undefined && { encrypted_content: payload }),
});

export const summaryPart = (text: string): JsonObject => ({ type: 'summary_text', text });

/** A signature as `encrypted_content`. */
export const encodeSignature = (signature: Signature): string => writeSignature(signature, 'responses');

/** A call item. `input` is JSON for a function or built-in tool, and plain text for a custom tool. */
export const callItem = (
  id: string,
  status: ItemStatus,
  callId: string,
  tool: CalledTool,
  input: string,
): JsonObject => {
  const { kind, name, namespace } = tool;
  const group = namespace !== undefined && { namespace };
  if (kind === 'custom') return { id, type: 'custom_tool_call', status, call_id: callId, name, input, ...group };
  if (kind === 'function') {
    return { id, type: 'function_call', status, arguments: input, call_id: callId, name, ...group };
  }
  const { call, write } = builtIns[kind];
  const read = parseJson(input || '{}');
  const whole = isJsonObject(read);
  // The client must not run a part of a command.
  return {
    id,
    type: call,
    status: whole || status === 'in_progress' ? status : 'incomplete',
    call_id: callId,
    ...write(whole ? read : {}),
  };
};

/** The prefix of a call item's id. */
export const callPrefix = ({ kind }: CalledTool) =>
  kind === 'custom' ? 'ctc' : kind === 'function' ? 'fc' : builtIns[kind].prefix;

/** An item's id, unique and deterministic. `index` counts the reply's items. */
export const itemId = (
  prefix: 'msg' | 'rs' | 'cmp' | ReturnType<typeof callPrefix>,
  contextId: string,
  index: number,
): string => `${prefix}_${contextId}${index.toString(16).padStart(4, '0')}`;

/** A call's id; derived from the request id if the upstream sent none. */
export const callIdOf = (id: string, contextId: string, index: number): string =>
  id === '' ? `call_${contextId}${index.toString(16).padStart(4, '0')}` : id;
