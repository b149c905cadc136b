import { bearerKey } from './chat-wire.ts';
import { counts, pieces, type Scripted, scripted, sse, thought } from './script.ts';
import type { Vendor, VendorAnswer } from './vendor.ts';

export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly MessagesBlock[] }[];
  readonly system?: unknown;
  readonly stream?: boolean;
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
  readonly tools?: readonly MessagesTool[];
  readonly tool_choice?: { readonly type: string };
  readonly temperature?: number;
  readonly top_k?: number;
}

interface MessagesTool {
  readonly name: string;
  /** The vendor's own tools have another type than `custom`, and no schema. */
  readonly type?: string;
  readonly input_schema?: Readonly<Record<string, unknown>>;
}

interface MessagesBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly MessagesBlock[];
  readonly source?: { readonly type: string; readonly media_type?: string };
  readonly signature?: string;
  readonly thinking?: string;
}

/** The only signature that this vendor issued. */
const vendorSignature = 'EqQBCgIYAhIM+vendor/signature==';

/** A vendor of Messages that is as strict as the original. */
export const messagesVendor: Vendor<MessagesBody> = {
  paths: /^\/v1\/messages$/,
  key: (headers) => headers['x-api-key']?.toString(),
  understand,
  complaint: findComplaint,
  failure: (status, message) => ({
    body: { type: 'error', error: { type: types[status] ?? 'api_error', message }, request_id: 'req_vendor' },
    headers: status === 429 ? { 'retry-after': '7' } : {},
  }),
  answer(body, _url, script = scripted) {
    const answer = script(understand(body));
    const shown = body.thinking && body.thinking.type !== 'disabled' ? answer : { ...answer, thinking: undefined };
    const { thinking, ...rest } = shown;
    const given: Scripted = thinking === undefined ? rest : { ...rest, thinking };
    return written(given, body, vendorSignature);
  },
  payload: vendorSignature,
};

/**
 * A host that serves its own models behind Messages: it signs nothing, and wants its thinking back where it called tools. Source:
 * reports on DeepSeek's and Kimi's doors, "content[].thinking … must be passed back".
 */
export const lookAlikeVendor: Vendor<MessagesBody> = {
  ...messagesVendor,
  key: (headers) => bearerKey(headers) ?? messagesVendor.key(headers),
  complaint: (body) => findCommonComplaint(body) ?? findLostThinking(body),
  answer: (body, _url, script = scripted) => written(script(understand(body)), body, ''),
  payload: thought,
};

const findLostThinking = ({ messages, thinking }: MessagesBody): string | undefined => {
  if (thinking?.type === 'disabled') return undefined;
  const lost = messages.findIndex(({ role, content }) => {
    const blocks = blocksOf(content);
    const calls = blocks.some(({ type }) => type === 'tool_use');
    return role === 'assistant' && calls && !blocks.some((block) => block.type === 'thinking' && block.thinking);
  });
  return lost === -1 ? undefined : `messages[${lost}].content[].thinking in the thinking mode must be passed back`;
};

const written = (given: Scripted, body: MessagesBody, signature: string): VendorAnswer =>
  body.stream
    ? { type: 'stream', pieces: streamOf(given, body, signature) }
    : { type: 'json', text: JSON.stringify(replyOf(given, body, signature)) };

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
};

const blocksOf = (content: MessagesBlock['content']): readonly MessagesBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);

const textOf = (content: MessagesBlock['content']): string =>
  blocksOf(content)
    .map(({ text = '' }) => text)
    .join('');

function understand({ messages, tools = [] }: MessagesBody) {
  const turns = messages.filter(({ role }) => role === 'user').map(({ content }) => blocksOf(content));
  const newest = turns.at(-1) ?? [];
  const spoken = turns.findLast((blocks) => blocks.some(({ type }) => type === 'text')) ?? [];
  return {
    text: textOf(spoken),
    results: newest.filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
    tools: tools.map(({ name }) => name),
    images: newest.flatMap(({ type, source }) => (type === 'image' ? (source?.media_type ?? 'url') : [])),
  };
}

/** What the original would refuse. Source: Anthropic API reference, "Messages"; guides "Tool use" and "Extended thinking". */
function findComplaint(body: MessagesBody): string | undefined {
  return findCommonComplaint(body) ?? findThinkingComplaint(body);
}

const findThinkingComplaint = ({ messages, thinking }: MessagesBody): string | undefined => {
  const newest = messages.findLast(({ role }) => role === 'assistant');
  for (const message of messages) {
    const blocks = blocksOf(message.content);
    const thoughts = blocks.filter(({ type }) => type === 'thinking');
    if (thoughts.some(({ signature }) => signature !== vendorSignature))
      return 'Invalid `signature` in `thinking` block';
    if (thoughts.some(({ thinking }) => thinking !== thought)) return '`thinking` blocks cannot be modified';
    const calls = blocks.some(({ type }) => type === 'tool_use');
    if (thinking?.type === 'enabled' && message === newest && calls && blocks[0]?.type !== 'thinking')
      return 'Expected `thinking`, found `tool_use`';
  }
  return undefined;
};

/** What look-alikes refuse as well. */
function findCommonComplaint(body: MessagesBody): string | undefined {
  const { messages, max_tokens, thinking, tools, tool_choice, temperature, top_k } = body;
  if (!Number.isInteger(max_tokens) || max_tokens < 1) return 'max_tokens is required';
  if (!tools && tool_choice) return 'tool_choice without tools';
  if (tools?.some(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))) return 'tool name';
  for (const { type = 'custom', input_schema: schema } of tools ?? []) {
    if (type !== 'custom') continue;
    if (schema?.type !== 'object') return 'input_schema.type must be object';
    if (['anyOf', 'oneOf', 'allOf'].some((union) => schema[union] !== undefined))
      return 'input_schema does not support oneOf, allOf, or anyOf at the top level';
  }
  if (temperature !== undefined && (temperature < 0 || temperature > 1)) return 'temperature out of range';
  const thinks = thinking?.type === 'enabled';
  if (thinks) {
    const budget = thinking.budget_tokens ?? 0;
    if (budget < 1_024 || budget >= max_tokens) return `budget_tokens ${budget} of max_tokens ${max_tokens}`;
    if (tool_choice?.type === 'any' || tool_choice?.type === 'tool') return 'thinking with a forced tool';
    if (temperature !== undefined && temperature !== 1) return 'thinking with a temperature';
    if (top_k !== undefined) return 'thinking with top_k';
  }
  let due: string[] = [];
  let last = '';
  for (const { role, content } of messages) {
    const blocks = blocksOf(content);
    if (blocks.length === 0) return `an empty ${role} message`;
    if (blocks.some(({ type, text }) => type === 'text' && !text)) return 'text content blocks must be non-empty';
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const answered = results.map(({ tool_use_id = '' }) => tool_use_id);
    if (due.some((id) => !answered.includes(id))) return `tool_use ids without tool_result: ${due.join(', ')}`;
    if (answered.some((id) => !due.includes(id))) return `unexpected tool_use_id: ${answered.join(', ')}`;
    if (results.length > 0 && blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
      return 'tool_result blocks must come first';
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    due = calls.map(({ id = '' }) => id);
    if (due.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) return 'tool_use id';
    if (calls.some(({ input }) => typeof input !== 'object' || input === null)) return 'tool_use input';
    if (calls.length > 0 && !tools) return 'tool blocks without tools';
    last = role;
  }
  if (due.length > 0) return `tool_use ids without tool_result: ${due.join(', ')}`;
  return last === 'assistant' ? 'This model does not support prefill' : undefined;
}

const startUsage = {
  input_tokens: counts.prompt - counts.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: counts.cached,
  output_tokens: 1,
};

const endUsage = {
  ...startUsage,
  output_tokens: counts.output,
  output_tokens_details: { thinking_tokens: counts.reasoning },
};

const head = ({ model }: MessagesBody) => ({
  id: 'msg_vendor',
  type: 'message',
  role: 'assistant',
  model: `${model}-0001`,
});

const replyOf = ({ thinking, text, calls = [] }: Scripted, body: MessagesBody, signature: string) => ({
  ...head(body),
  content: [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ],
  stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: endUsage,
});

const streamOf = ({ thinking, text, calls = [] }: Scripted, body: MessagesBody, signature: string): string[] => {
  const out: string[] = [];
  const emit = (data: { readonly type: string }) => out.push(sse(data, data.type));
  const block = (index: number, content_block: object, deltas: readonly object[]): void => {
    emit({ type: 'content_block_start', ...{ index, content_block } });
    for (const delta of deltas) emit({ type: 'content_block_delta', ...{ index, delta } });
    emit({ type: 'content_block_stop', ...{ index } });
  };
  let index = 0;
  emit({
    type: 'message_start',
    ...{ message: { ...head(body), content: [], stop_reason: null, stop_sequence: null, usage: startUsage } },
  });
  emit({ type: 'ping' });
  if (thinking !== undefined) {
    const deltas = pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
    const signed = signature === '' ? [] : [{ type: 'signature_delta', signature }];
    block(index++, { type: 'thinking', thinking: '', signature: '' }, [...deltas, ...signed]);
  }
  if (text !== undefined) {
    block(
      index++,
      { type: 'text', text: '' },
      pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    );
  }
  for (const { id, name, input } of calls) {
    const deltas = ['', ...pieces(JSON.stringify(input))];
    block(
      index++,
      { type: 'tool_use', id, name, input: {} },
      deltas.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    );
  }
  emit({
    type: 'message_delta',
    ...{ delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: endUsage },
  });
  emit({ type: 'message_stop' });
  return out;
};
