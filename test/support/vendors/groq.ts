import {
  bearerKey,
  type ChatBody,
  chatChunk,
  chatReply,
  chatUsage,
  findChatComplaint,
  hasImages,
  lacksJsonWord,
  understandChat,
  unknownField,
  wholeCall,
} from './chat-wire.ts';
import { pieces, type Scripted, scripted, sse, thought } from './script.ts';
import type { Vendor } from './vendor.ts';

/** Groq: refuses fields that it doesn't know, gives calls whole and counts below `x_groq` too. */
export const groqVendor: Vendor<ChatBody> = {
  paths: /^\/openai\/v1\/chat\/completions$/,
  key: bearerKey,
  understand: understandChat,
  complaint: findComplaint,
  failure: (status, message) => ({
    body: { error: { message, type: status === 429 ? 'tokens' : 'invalid_request_error', code: codes[status] } },
    headers: status === 429 ? { 'retry-after': '7', 'x-ratelimit-reset-tokens': '6.4s' } : {},
  }),
  answer(body, _url, script = scripted) {
    const { thinking, ...rest } = script(understandChat(body));
    const shown = thinking !== undefined && body.include_reasoning !== false;
    const answer: Scripted = shown ? { ...rest, thinking } : rest;
    return body.stream
      ? { type: 'stream', pieces: streamOf(answer, body) }
      : { type: 'json', text: replyOf(answer, body) };
  },
  payload: thought,
};

const codes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  429: 'rate_limit_exceeded',
  500: 'internal_server_error',
};

const known = [
  ...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stop', 'seed', 'user'],
  ...['response_format', 'stream', 'stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'service_tier'],
  ...['reasoning_format', 'include_reasoning', 'reasoning_effort', 'search_settings', 'disable_tool_validation'],
  ...['frequency_penalty', 'presence_penalty', 'metadata', 'store', 'documents', 'citation_options', 'n'],
];
const knownInMessages = ['role', 'content', 'reasoning', 'tool_calls', 'tool_call_id'];

/** Source: Groq API reference, "Create chat completion"; guide "Reasoning". */
function findComplaint(body: ChatBody): string | undefined {
  const { model, messages, reasoning_effort, reasoning_format, include_reasoning, response_format, tools } = body;
  const unknown = unknownField(body, known);
  if (unknown !== undefined) return `property '${unknown}' is unsupported`;
  for (const message of messages) {
    const member = unknownField(message, knownInMessages);
    if (member !== undefined) return `'messages' : property '${member}' is unsupported`;
  }
  const isGptOss = /gpt-oss/.test(model);
  if (hasImages(body) && !/llama-4|vision/.test(model)) return 'messages[0].content must be a string';
  if (reasoning_effort !== undefined) {
    if (!isGptOss) return '`reasoning_effort` is not supported with this model';
    if (!['low', 'medium', 'high'].includes(reasoning_effort)) return '`reasoning_effort` must be low, medium or high';
  }
  if (reasoning_format !== undefined && include_reasoning !== undefined)
    return 'cannot specify both `include_reasoning` and `reasoning_format`';
  if (include_reasoning !== undefined && !isGptOss) return '`include_reasoning` is not supported with this model';
  if (reasoning_format === 'raw' && (tools || response_format)) return '`reasoning_format` raw with tools or JSON';
  if (lacksJsonWord(body)) return "'messages' must contain the word 'json'";
  return findChatComplaint(body);
}

const usage = { ...chatUsage, queue_time: 0.05, prompt_time: 0.01, completion_time: 0.1, total_time: 0.16 };

const head = ({ model }: ChatBody) => ({
  id: 'chatcmpl-7d0b-vendor',
  created: 1_700_000_000,
  model: `${model}-0001`,
  system_fingerprint: 'fp_vendor',
});

const finish = (calls: Scripted['calls']): string => (calls && calls.length > 0 ? 'tool_calls' : 'stop');

const replyOf = ({ thinking, text, calls }: Scripted, body: ChatBody): string =>
  chatReply(
    head(body),
    {
      ...(text !== undefined && { content: text }),
      ...(thinking !== undefined && { reasoning: thinking }),
      ...(calls && { tool_calls: calls.map(wholeCall) }),
    },
    finish(calls),
    { usage, usage_breakdown: null, x_groq: { id: 'req_vendor', seed: 7 }, service_tier: 'on_demand' },
  );

const streamOf = ({ thinking, text, calls = [] }: Scripted, body: ChatBody): string[] => {
  const chunk = (delta: object) => chatChunk(head(body), delta);
  return [
    chatChunk(head(body), { role: 'assistant', content: null }, null, { x_groq: { id: 'req_vendor', seed: 7 } }),
    ...pieces(thinking ?? '').map((piece) => chunk({ reasoning: piece, channel: 'analysis' })),
    ...pieces(text ?? '').map((piece) => chunk({ content: piece })),
    ...(calls.length > 0 ? [chunk({ tool_calls: calls.map((call, index) => ({ ...wholeCall(call), index })) })] : []),
    chatChunk(head(body), {}, finish(calls), { x_groq: { id: 'req_vendor', usage }, usage }),
    sse('[DONE]'),
  ];
};
