import { parseAs } from '../../parse-as.ts';
import { chatCall, chatTool, textOf } from './chat-words.ts';
import { type Conversion, type EventWriter, namedEvent, type StreamConversion } from './conversion.ts';
import type { ChatCall, ChatChunk, ChatReply, ChatUsage, ResponsesItem, ResponsesRequest } from './shapes.ts';

/** Clients of Responses before an upstream of Chat Completions. */
export const responsesToChat: Conversion = {
  request(text) {
    const {
      model,
      instructions,
      input,
      max_output_tokens,
      temperature,
      stream = false,
      tools,
    } = parseAs<ResponsesRequest>(text);
    const body = {
      model,
      messages: [
        ...(instructions ? [{ role: 'system', content: instructions }] : []),
        ...(typeof input === 'string' ? [{ role: 'user', content: input }] : input.map(message)),
      ],
      max_completion_tokens: max_output_tokens,
      temperature,
      stream,
      stream_options: stream ? { include_usage: true } : undefined,
      tools: tools?.map(({ name, description, parameters }) => chatTool(name, description, parameters)),
    };
    return { path: '/v1/chat/completions', body, streamed: stream };
  },
  reply(text) {
    const body = parseAs<ChatReply>(text);
    const { content = null, tool_calls = [] } = body.choices[0]?.message ?? {};
    return response(body.id, body.model, 'completed', usageOf(body.usage), [
      ...(content ? [textItem(`msg_${body.id}`, content)] : []),
      ...tool_calls.map((call) => callItem(call.id, call.function.name, call.function.arguments)),
    ]);
  },
  stream: (write = namedEvent) => chatToResponsesStream(write),
};

const message = (item: ResponsesItem): object => {
  switch (item.type) {
    case 'function_call':
      return { role: 'assistant', content: null, tool_calls: [chatCall(item.call_id, item.name, item.arguments)] };
    case 'function_call_output':
      return { role: 'tool', tool_call_id: item.call_id, content: item.output };
    case 'message':
      return { role: item.role, content: textOf(item.content) };
  }
};

const usageOf = (usage: ChatUsage | undefined): object => ({
  input_tokens: usage?.prompt_tokens,
  output_tokens: usage?.completion_tokens,
  total_tokens: usage?.total_tokens,
});

const textItem = (id: string, text: string): object => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const callItem = (id: string, name: string, input: string): object => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: id,
  name,
  arguments: input,
});

const response = (
  id: string,
  model: string,
  status: string,
  usage: object | null,
  output: readonly object[],
): object => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1e3),
  status,
  model,
  output,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tools: [],
  usage,
});

const chatToResponsesStream = (write: EventWriter): StreamConversion => {
  let sequence = 0;
  let id = '';
  let model = '';
  let usage: object | null = null;
  let open: '' | 'text' | 'call' = '';
  let itemId = '';
  let callId = '';
  let name = '';
  /** Of the open item, for the event that closes it. */
  let gathered = '';
  const output: object[] = [];
  const event = (type: string, data: object): string => {
    const written = write(type, { sequence_number: sequence, ...data });
    sequence += 1;
    return written;
  };
  const place = (): object => ({ item_id: itemId, output_index: output.length, content_index: 0 });
  const part = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const close = (): string => {
    if (open === '') return '';
    const text = open === 'text';
    const item = text ? textItem(itemId, gathered) : callItem(callId, name, gathered);
    const before = text
      ? event('response.output_text.done', { ...place(), text: gathered, logprobs: [] }) +
        event('response.content_part.done', { ...place(), part: part(gathered) })
      : event('response.function_call_arguments.done', {
          item_id: itemId,
          output_index: output.length,
          arguments: gathered,
        });
    const after = event('response.output_item.done', { output_index: output.length, item });
    output.push(item);
    open = '';
    gathered = '';
    return before + after;
  };
  const openText = (): string => {
    const closed = close();
    open = 'text';
    itemId = `msg_${id}_${output.length}`;
    const item = { id: itemId, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    return (
      closed +
      event('response.output_item.added', { output_index: output.length, item }) +
      event('response.content_part.added', { ...place(), part: part('') })
    );
  };
  const openCall = (call: Partial<ChatCall>): string => {
    const closed = close();
    open = 'call';
    callId = call.id ?? '';
    itemId = `fc_${callId}`;
    name = call.function?.name ?? '';
    const item = { id: itemId, type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' };
    return closed + event('response.output_item.added', { output_index: output.length, item });
  };
  return {
    record(data) {
      const chunk = parseAs<ChatChunk>(data);
      let out = '';
      if (id === '') {
        id = chunk.id;
        model = chunk.model;
        const begun = response(id, model, 'in_progress', null, []);
        out += event('response.created', { response: begun }) + event('response.in_progress', { response: begun });
      }
      if (chunk.usage) usage = usageOf(chunk.usage);
      const delta = chunk.choices[0]?.delta;
      if (!delta) return out;
      if (delta.content) {
        if (open !== 'text') out += openText();
        gathered += delta.content;
        out += event('response.output_text.delta', { ...place(), delta: delta.content, logprobs: [] });
      }
      for (const call of delta.tool_calls ?? []) {
        if (call.id && call.id !== callId) out += openCall(call);
        const piece = call.function?.arguments;
        if (!piece) continue;
        gathered += piece;
        out += event('response.function_call_arguments.delta', {
          item_id: itemId,
          output_index: output.length,
          delta: piece,
        });
      }
      return out;
    },
    end: () => close() + event('response.completed', { response: response(id, model, 'completed', usage, output) }),
  };
};
