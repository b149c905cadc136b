import { parseAs } from '../../parse-as.ts';
import { chatCall, textOf } from './chat-words.ts';
import type { Conversion, StreamConversion } from './conversion.ts';
import type { ChatRequest, ChatTurn, MessagesEvent, MessagesReply, MessagesUsage } from './shapes.ts';

const created = (): number => Math.floor(Date.now() / 1e3);

/** Clients of Chat Completions before an upstream of Messages. */
export const chatToMessages: Conversion = {
  request(text) {
    const {
      model,
      messages,
      max_tokens,
      max_completion_tokens,
      temperature,
      stream = false,
      tools,
    } = parseAs<ChatRequest>(text);
    const system = messages.filter(isInstruction);
    const body = {
      model,
      max_tokens: max_completion_tokens ?? max_tokens ?? 4096,
      stream,
      temperature,
      system:
        system.length > 0 ? system.map((turn) => ({ type: 'text', text: textOf(turn.content ?? '') })) : undefined,
      messages: messages.filter((turn) => !isInstruction(turn)).map(message),
      tools: tools?.map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        input_schema: parameters,
      })),
    };
    return { path: '/v1/messages', body, streamed: stream };
  },
  reply(text) {
    const body = parseAs<MessagesReply>(text);
    const calls = body.content.filter((block) => block.type === 'tool_use');
    const texts = body.content.filter((block) => block.type === 'text');
    return {
      id: `chatcmpl-${body.id}`,
      object: 'chat.completion',
      created: created(),
      model: body.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: textOf(texts),
            refusal: null,
            tool_calls:
              calls.length > 0
                ? calls.map(({ id, name, input }) => chatCall(id, name, JSON.stringify(input)))
                : undefined,
          },
          logprobs: null,
          finish_reason: finishOf(body.stop_reason),
        },
      ],
      usage: usageOf(body.usage),
    };
  },
  stream: () => messagesToChatStream(),
};

const isInstruction = ({ role }: ChatTurn): boolean => role === 'system' || role === 'developer';

const finishOf = (stop: string): string =>
  stop === 'tool_use' ? 'tool_calls' : stop === 'max_tokens' ? 'length' : 'stop';

const usageOf = (usage: MessagesUsage): object => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: usage.input_tokens + usage.output_tokens,
});

const message = (turn: ChatTurn): object => {
  if (turn.role === 'tool') {
    const result = { type: 'tool_result', tool_use_id: turn.tool_call_id, content: turn.content };
    return { role: 'user', content: [result] };
  }
  if (!turn.tool_calls) return { role: turn.role, content: turn.content };
  return {
    role: turn.role,
    content: [
      ...(turn.content ? [{ type: 'text', text: turn.content }] : []),
      ...turn.tool_calls.map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.function.name,
        input: parseAs<object>(call.function.arguments || '{}'),
      })),
    ],
  };
};

const messagesToChatStream = (): StreamConversion => {
  const at = created();
  let id = '';
  let model = '';
  let call = -1;
  let input = 0;
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created: at,
      model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    })}\n\n`;
  const usage = (output: number): string =>
    `data: ${JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created: at,
      model,
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    })}\n\n`;
  return {
    record(data) {
      const event = parseAs<MessagesEvent>(data);
      switch (event.type) {
        case 'message_start':
          id = `chatcmpl-${event.message.id}`;
          model = event.message.model;
          input = event.message.usage.input_tokens;
          return chunk({ role: 'assistant', content: '' });
        case 'content_block_start': {
          const block = event.content_block;
          if (block.type !== 'tool_use') return '';
          call += 1;
          const made = { name: block.name, arguments: '' };
          return chunk({ tool_calls: [{ index: call, id: block.id, type: 'function', function: made }] });
        }
        case 'content_block_delta': {
          const delta = event.delta;
          if (delta.type === 'text_delta') return chunk({ content: delta.text });
          return chunk({ tool_calls: [{ index: call, function: { arguments: delta.partial_json } }] });
        }
        case 'message_delta':
          return chunk({}, finishOf(event.delta.stop_reason)) + usage(event.usage.output_tokens);
        default:
          return '';
      }
    },
    end: () => 'data: [DONE]\n\n',
  };
};
