import type { JsonObject } from '../../engine/model/json.ts';
import { type Signature, writeSignature } from '../../engine/model/signature.ts';
import type { CalledTool } from './called-tool.ts';

/** How far an item has come. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A text of a message. Source: OpenAI API reference, "The response object", `output`; so for all below. */
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

/** `summary` holds at most one text; a seal without readable reasoning has none. */
export const reasoningItem = (id: string, summary: readonly string[], payload: string | undefined): JsonObject => ({
  id,
  type: 'reasoning',
  summary: summary.map(summaryPart),
  ...(payload !== undefined && { encrypted_content: payload }),
});

export const summaryPart = (text: string): JsonObject => ({ type: 'summary_text', text });

/** The seal of a reasoning item as this protocol's clients get it. */
export const sealOf = (signature: Signature): string => writeSignature(signature, 'responses');

/** `input` is JSON for a function and bare text for a custom tool. */
export const callItem = (
  id: string,
  status: ItemStatus,
  callId: string,
  { kind, name, namespace }: CalledTool,
  input: string,
): JsonObject => ({
  id,
  ...(kind === 'custom'
    ? { type: 'custom_tool_call', status, call_id: callId, name, input }
    : { type: 'function_call', status, arguments: input, call_id: callId, name }),
  ...(namespace !== undefined && { namespace }),
});

/** An item's id: unique in the gateway, the same each time. `index` counts the answer's items. */
export const itemId = (prefix: 'msg' | 'rs' | 'fc' | 'ctc', contextId: string, index: number): string =>
  `${prefix}_${contextId}${index.toString(16).padStart(4, '0')}`;

/** A call's id where the upstream gave none. */
export const callIdOf = (id: string, contextId: string, index: number): string =>
  id === '' ? `call_${contextId}${index.toString(16).padStart(4, '0')}` : id;
