import { fail } from '../../../engine/model/fault.ts';
import { asJsonObject, isJsonObject, type JsonObject, writeJson } from '../../../engine/model/json/json.ts';
import type { Part, TextPart, ToolCallPart } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { argumentsOf, type BuiltInKind } from '../built-in-tools.ts';
import { addTurn, append, type Conversation, extraFor, standIn } from './conversation.ts';
import { decodeContent, extraOf } from './decode-content.ts';
import { decodeOpaque } from './decode-opaque.ts';
import { BuiltInCallItem, BuiltInOutputItem, ExecutedItem, SearchCallItem } from './schema-items.ts';
import { CallOutputItem, CustomCallItem, FunctionCallItem } from './schema-request.ts';

const functionCallReader = reader(FunctionCallItem);
const customCallReader = reader(CustomCallItem);
const callOutputReader = reader(CallOutputItem);
const executedReader = reader(ExecutedItem);
const searchCallReader = reader(SearchCallItem);
const builtInCallReader = reader(BuiltInCallItem);
const builtInOutputReader = reader(BuiltInOutputItem);

/** Decodes a `function_call` item. */
export const decodeFunctionCall = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, name, arguments: input, namespace } = functionCallReader.read(item, at);
  appendCall(state, item, { type: 'tool-call', id, name: state.names.nameOf(name, namespace), input, at }, 'arguments');
};

/** Decodes a `custom_tool_call` item; the model's input of such a tool is `{"input":"…"}`. */
export const decodeCustomCall = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, name, input, namespace } = customCallReader.read(item, at);
  const call = { type: 'tool-call', id, name: state.names.nameOf(name, namespace), input: { input }, at } as const;
  appendCall(state, item, call, 'input');
};

const appendCall = (
  state: Conversation,
  item: JsonObject,
  call: ToolCallPart & { readonly at: string },
  input: string,
): void => {
  const extra = extraOf(item, ['type', 'id', 'status', 'call_id', 'name', 'namespace', input], call.at);
  addCall(state, { ...call, ...(extra && { extra }) });
  // Its output may come turns later.
  if (item.async === true) state.pending.set(call.id, call.at);
};

const addCall = (state: Conversation, call: ToolCallPart & { readonly at: string }): void => {
  const signature = state.callSignatures.get(call.id);
  state.calls.add(call.id);
  append(state, 'assistant', call.at, { ...call, ...(signature && { signature }) });
};

/** Decodes a `tool_search_call`: the client's as a call of its function. */
export const decodeSearchCall = (state: Conversation, item: JsonObject, at: string): void => {
  if (!isClients(item, at)) {
    decodeOpaque(state, item, at);
    return;
  }
  const { call_id, id: itemId, arguments: input } = searchCallReader.read(item, at);
  const id = call_id ?? itemId ?? missingCallId(at);
  addCall(state, {
    type: 'tool-call',
    id,
    name: state.names.builtInName('tool_search'),
    input: isJsonObject(input) ? input : typeof input === 'string' ? input : {},
    at,
    extra: extraFor(item, ['call_id', 'execution', 'arguments'], at),
  });
};

const isClients = (item: JsonObject, at: string): boolean => executedReader.read(item, at).execution === 'client';

const missingCallId = (at: string): never =>
  fail('invalid-request', `${at}.call_id is required.`, { param: memberPath(at, 'call_id') });

/** Decodes a `tool_search_output`. Its tools are declared already; the model gets their names. */
export const decodeSearchOutput = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id, id: itemId } = builtInOutputReader.read(item, at);
  const id = call_id ?? itemId;
  if (!isClients(item, at) || id === undefined || id === null) {
    decodeOpaque(state, item, at);
    return;
  }
  const names = state.names.namesIn(memberPath(at, 'tools'));
  const text = names.length > 0 ? `Found these tools, which can be called now: ${names.join(', ')}` : 'No tools found.';
  addResult(state, item, { id, at, content: [{ type: 'text', text, at }] });
};

/** Decodes a call of a built-in tool that the client ran; one that the vendor ran is opaque. */
export const decodeBuiltInCall =
  (kind: Exclude<BuiltInKind, 'tool_search'>) =>
  (state: Conversation, item: JsonObject, at: string): void => {
    const { call_id, id: itemId, action, operation, environment } = builtInCallReader.read(item, at);
    const id = call_id ?? itemId ?? missingCallId(at);
    if (itemId) state.callIdOfItem.set(itemId, id);
    if (environment && environment.type !== 'local') {
      state.hostedCalls.add(id);
      decodeOpaque(state, item, at);
      return;
    }
    const input = argumentsOf(kind, asJsonObject(action ?? operation ?? {}));
    const extra = extraFor(item, ['call_id', 'action', 'operation', 'environment'], at);
    addCall(state, { type: 'tool-call', id, name: state.names.builtInName(kind), input, at, extra });
  };

/** Decodes the output of a built-in tool. */
export const decodeBuiltInOutput = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id, id: itemId, status } = builtInOutputReader.read(item, at);
  const { output } = item;
  const named = call_id ?? itemId ?? missingCallId(at);
  const id = state.calls.has(named) ? named : (state.callIdOfItem.get(named) ?? named);
  if (state.hostedCalls.has(id)) {
    decodeOpaque(state, item, at);
    return;
  }
  const text = typeof output === 'string' ? output : output ? writeJson(output) : '';
  const said = text === '' ? (status ?? '') : text;
  const place = memberPath(at, 'output');
  const content: readonly TextPart[] = said === '' ? [] : [{ type: 'text', text: said, at: place }];
  addResult(state, item, { id, at, content, failed: status === 'failed' });
};

interface Result {
  readonly id: string;
  readonly at: string;
  readonly content: readonly TextPart[];
  readonly failed?: boolean;
}

/** Adds a result with its item, which this format gets back. */
const addResult = (state: Conversation, item: JsonObject, { id, at, content, failed }: Result): void => {
  requireCall(state, id, at);
  const extra = extraFor(item, ['call_id', 'output', 'execution', 'tools'], at);
  append(state, 'user', at, { type: 'tool-result', id, content, at, extra, ...(failed && { isError: true }) });
};

const requireCall = (state: Conversation, id: string, at: string): void => {
  if (state.calls.has(id) || state.stateful) return;
  const param = memberPath(at, 'call_id');
  fail('invalid-request', `${param}: no call with the id '${id}' comes before its output.`, { param });
};

/** Decodes a call's output. Throws an `invalid-request` fault without a matching call. */
export const decodeOutput = (state: Conversation, item: JsonObject, at: string): void => {
  const { call_id: id, output, name } = callOutputReader.read(item, at);
  if (id !== null) requireCall(state, id, at);
  const place = memberPath(at, 'output');
  const content =
    typeof output === 'string' || isParts(output)
      ? decodeContent(output, place)
      : output
        ? [{ type: 'text' as const, text: writeJson(output), at: place }]
        : [];
  if (id === null || state.late.has(id)) {
    addLateOutput(state, item, at, id === null ? (name ?? undefined) : id, content);
    return;
  }
  state.pending.delete(id);
  const extra = extraOf(item, ['type', 'id', 'status', 'call_id', 'output'], at);
  append(state, 'user', at, { type: 'tool-result', id, content, at, ...(extra && { extra }) });
};

/** An output without a call at its place: the call's turn is over, or the call isn't in the conversation. */
const addLateOutput = (
  state: Conversation,
  item: JsonObject,
  at: string,
  call: string | undefined,
  content: readonly Part[],
): void => {
  const head: TextPart = {
    type: 'text',
    text: call ? `Result of the tool call ${call}:` : 'Result of a tool call:',
    at,
  };
  const extra = extraFor(item, ['call_id', 'output', 'name'], at, 'text: no call precedes it directly');
  const parts = standIn([head, ...content], extra);
  addTurn(state, { role: 'user', parts: [...parts], at });
};

const isParts = (output: unknown): output is readonly { readonly type: string }[] => Array.isArray(output);
