import {
  bearerKey,
  type ChatBody,
  chatChunk,
  chatReply,
  chatUsage,
  currentCallers,
  findChatComplaint,
  hasImages,
  lacksJsonWord,
  understandChat,
  unknownField,
  wholeCall,
} from './chat-wire.ts';
import { counts, pieces, type Scripted, scripted, sse, thought } from './script.ts';
import type { Vendor } from './vendor.ts';

/** DeepSeek: counts in the chunk of the finish reason, and reasoning that must come back with the calls that it led to. */
export const deepseekVendor: Vendor<ChatBody> = {
  paths: /^\/v1\/chat\/completions$/,
  key: bearerKey,
  understand: understandChat,
  complaint: findComplaint,
  failure: (status, message) => ({
    body: { error: { message, type: types[status] ?? 'server_error', param: null, code: 'invalid_request_error' } },
  }),
  answer(body, _url, script = scripted) {
    const { thinking, ...rest } = script(understandChat(body));
    const answer: Scripted = thinking === undefined || !thinks(body) ? rest : { ...rest, thinking };
    return body.stream
      ? { type: 'stream', pieces: streamOf(answer, body) }
      : { type: 'json', text: `\n\n\n${replyOf(answer, body)}` };
  },
  payload: thought,
};

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
};

const known = [
  ...['model', 'messages', 'max_tokens', 'temperature', 'top_p', 'stop', 'presence_penalty', 'frequency_penalty'],
  ...['response_format', 'stream', 'stream_options', 'tools', 'tool_choice', 'thinking', 'reasoning_effort', 'user_id'],
];

const thinks = ({ thinking }: ChatBody): boolean => thinking?.type !== 'disabled';

/** Source: DeepSeek API docs, "Create Chat Completion", "Thinking Mode". */
function findComplaint(body: ChatBody): string | undefined {
  const { model, messages, tools = [], tool_choice, response_format, reasoning_effort } = body;
  const unknown = unknownField(body, known);
  if (unknown !== undefined) return `unknown field ${unknown}`;
  if (messages.some(({ role }) => role === 'developer')) return 'unknown variant `developer`';
  if (hasImages(body)) return 'unknown variant `image_url`, expected `text`';
  if (tools.some((tool) => tool.type !== 'function' || tool.function?.strict !== undefined)) return 'beta tools';
  if (messages.some(({ prefix }) => prefix !== undefined)) return 'prefix is for the beta';
  if (!['low', 'high', 'max', undefined].includes(reasoning_effort)) return `reasoning_effort ${reasoning_effort}`;
  if (!['text', 'json_object', undefined].includes(response_format?.type)) return 'response_format';
  if (lacksJsonWord(body)) return "Prompt must contain the word 'json'";
  const older = /deepseek-(?:chat|reasoner)/.test(model);
  const forced = tool_choice === 'required' || typeof tool_choice === 'object';
  if (older && forced && body.thinking?.type === 'enabled') return 'does not support this tool_choice';
  if (thinks(body) && currentCallers(body).some(({ reasoning_content }) => typeof reasoning_content !== 'string')) {
    return 'The `reasoning_content` in the thinking mode must be passed back to the API.';
  }
  return findChatComplaint(body);
}

const usage = {
  ...chatUsage,
  prompt_cache_hit_tokens: counts.cached,
  prompt_cache_miss_tokens: counts.prompt - counts.cached,
};

const head = ({ model }: ChatBody) => ({
  id: '6f1b0c3e-vendor',
  created: 1_700_000_000,
  model: `${model}-0001`,
  system_fingerprint: 'fp_vendor',
});

const replyOf = ({ thinking, text, calls }: Scripted, body: ChatBody): string =>
  chatReply(
    head(body),
    {
      content: text ?? '',
      ...(thinking !== undefined && { reasoning_content: thinking }),
      ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...wholeCall(call) })) }),
    },
    calls ? 'tool_calls' : 'stop',
    { usage },
  );

const streamOf = ({ thinking, text, calls = [] }: Scripted, body: ChatBody): string[] => {
  const chunk = (delta: object) => chatChunk(head(body), delta, null, { usage: null });
  const first = thinking === undefined ? { content: '' } : { content: null, reasoning_content: '' };
  return [
    ': keep-alive\n\n',
    chunk({ role: 'assistant', ...first }),
    ...pieces(thinking ?? '').map((piece) => chunk({ content: null, reasoning_content: piece })),
    ': keep-alive\n\n',
    ...pieces(text ?? '').map((piece) => chunk({ content: piece, reasoning_content: null })),
    ...calls.flatMap(({ id, name, input }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...pieces(JSON.stringify(input)).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chatChunk(head(body), { content: '', reasoning_content: null }, calls.length > 0 ? 'tool_calls' : 'stop', {
      usage,
    }),
    sse('[DONE]'),
  ];
};
