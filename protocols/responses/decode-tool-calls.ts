import { fail } from '../../engine/model/fault.ts';
import { type JsonObject, writeJson } from '../../engine/model/json/json.ts';
import type { ToolCallPart } from '../../engine/model/request.ts';
import { memberPath, reader } from '../../engine/model/schema.ts';
import { append, type Conversation } from './conversation.ts';
import { decodeContent, extraOf } from './decode-content.ts';
import { CallOutputItem, CustomCallItem, FunctionCallItem } from './schema-request.ts';

const functionCallReader = reader(FunctionCallItem);
const customCallReader = reader(CustomCallItem);
const callOutputReader = reader(CallOutputItem);

/** Decodes a `function_call` item. */
export const decodeFunctionCall = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, name, arguments: input, namespace } = functionCallReader.read(item, at);
  appendCall(state, item, { type: 'tool-call', id, name: state.nameOf(name, namespace), input, at }, 'arguments');
};

/** Decodes a `custom_tool_call` item; the model's input of such a tool is `{"input":"…"}`. */
export const decodeCustomCall = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, name, input, namespace } = customCallReader.read(item, at);
  appendCall(
    state,
    item,
    { type: 'tool-call', id, name: state.nameOf(name, namespace), input: { input }, at },
    'input',
  );
};

const appendCall = (
  state: Conversation,
  item: JsonObject,
  call: ToolCallPart & { readonly at: string },
  input: string,
): void => {
  const extra = extraOf(item, ['type', 'id', 'status', 'call_id', 'name', 'namespace', input], call.at);
  const signature = state.callSignatures.get(call.id);
  state.calls.add(call.id);
  append(state, 'assistant', call.at, { ...call, ...(signature && { signature }), ...(extra && { extra }) });
};

/** Decodes a call's output. Throws an `invalid-request` fault without a matching call. */
export const decodeOutput = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, output } = callOutputReader.read(item, at);
  if (!state.calls.has(id) && !state.stateful) {
    const param = memberPath(at, 'call_id');
    fail('invalid-request', `${param}: no call with the id '${id}' comes before its output.`, { param });
  }
  const place = memberPath(at, 'output');
  const content =
    typeof output === 'string' || isParts(output)
      ? decodeContent(output, place)
      : output
        ? [{ type: 'text' as const, text: writeJson(output), at: place }]
        : [];
  const extra = extraOf(item, ['type', 'id', 'status', 'call_id', 'output'], at);
  append(state, 'user', at, { type: 'tool-result', id, content, at, ...(extra && { extra }) });
};

const isParts = (output: unknown): output is readonly { readonly type: string }[] => Array.isArray(output);
