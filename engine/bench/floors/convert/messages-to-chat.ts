import { parseAs } from '../../parse-as.ts';
import { chatCall, chatTool, stopReasonOf, textOf } from './chat-words.ts';
import { type Conversion, namedEvent, type StreamConversion } from './conversion.ts';
import type { ChatChunk, ChatReply, MessagesRequest, MessagesTurn } from './shapes.ts';

/** Clients of Messages before an upstream of Chat Completions. */
export const messagesToChat: Conversion = {
  request(text) {
    const { model, system, messages, max_tokens, temperature, stream = false, tools } = parseAs<MessagesRequest>(text);
    const body = {
      model,
      messages: [...(system ? [{ role: 'system', content: textOf(system) }] : []), ...messages.flatMap(message)],
      max_completion_tokens: max_tokens,
      temperature,
      stream,
      stream_options: stream ? { include_usage: true } : undefined,
      tools: tools?.map(({ name, description, input_schema }) => chatTool(name, description, input_schema)),
    };
    return { path: '/v1/chat/completions', body, streamed: stream };
  },
  reply(text) {
    const body = parseAs<ChatReply>(text);
    const choice = body.choices[0];
    return {
      id: `msg_${body.id}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [
        ...(choice?.message.content ? [{ type: 'text', text: choice.message.content }] : []),
        ...(choice?.message.tool_calls ?? []).map((call) => ({
          type: 'tool_use',
          id: call.id,
          name: call.function.name,
          input: parseAs<object>(call.function.arguments || '{}'),
        })),
      ],
      stop_reason: stopReasonOf(choice?.finish_reason),
      stop_sequence: null,
      usage: { input_tokens: body.usage?.prompt_tokens, output_tokens: body.usage?.completion_tokens },
    };
  },
  stream: () => chatToMessagesStream(),
};

const message = (turn: MessagesTurn): object[] => {
  if (typeof turn.content === 'string') return [{ role: turn.role, content: turn.content }];
  const calls = turn.content.filter((block) => block.type === 'tool_use');
  const results = turn.content.filter((block) => block.type === 'tool_result');
  const texts = turn.content.filter((block) => block.type === 'text');
  const out: object[] = results.map((block) => ({
    role: 'tool',
    tool_call_id: block.tool_use_id,
    content: textOf(block.content),
  }));
  if (texts.length > 0 || calls.length > 0) {
    out.push({
      role: turn.role,
      content: texts.length > 0 ? texts.map((block) => block.text).join('') : null,
      tool_calls:
        calls.length > 0 ? calls.map(({ id, name, input }) => chatCall(id, name, JSON.stringify(input))) : undefined,
    });
  }
  return out;
};

const chatToMessagesStream = (): StreamConversion => {
  let started = false;
  let index = -1;
  let open = '';
  let stopReason = 'end_turn';
  let usage: object = { output_tokens: 0 };
  const close = (): string => {
    if (open === '') return '';
    open = '';
    return namedEvent('content_block_stop', { index });
  };
  const start = (kind: string, block: object): string => {
    const closed = close();
    open = kind;
    index += 1;
    return closed + namedEvent('content_block_start', { index, content_block: block });
  };
  const delta = (delta: object): string => namedEvent('content_block_delta', { index, delta });
  return {
    record(data) {
      const chunk = parseAs<ChatChunk>(data);
      let out = '';
      if (!started) {
        started = true;
        out += namedEvent('message_start', {
          message: {
            id: `msg_${chunk.id}`,
            type: 'message',
            role: 'assistant',
            model: chunk.model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 0, output_tokens: 0 },
          },
        });
      }
      if (chunk.usage) {
        usage = { input_tokens: chunk.usage.prompt_tokens, output_tokens: chunk.usage.completion_tokens };
      }
      const choice = chunk.choices[0];
      if (!choice) return out;
      const { content, tool_calls } = choice.delta;
      if (content) {
        if (open !== 'text') out += start('text', { type: 'text', text: '' });
        out += delta({ type: 'text_delta', text: content });
      }
      for (const call of tool_calls ?? []) {
        if (call.id && open !== call.id) {
          out += start(call.id, { type: 'tool_use', id: call.id, name: call.function?.name, input: {} });
        }
        if (call.function?.arguments) {
          out += delta({ type: 'input_json_delta', partial_json: call.function.arguments });
        }
      }
      if (choice.finish_reason) stopReason = stopReasonOf(choice.finish_reason);
      return out;
    },
    end: () =>
      close() +
      namedEvent('message_delta', {
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage,
      }) +
      namedEvent('message_stop'),
  };
};
