import type { IncomingHttpHeaders } from 'node:http';
import { type Asked, counts, type Scripted, sse } from './script.ts';

/** What Chat Completions and its look-alikes have in common. */
interface ChatMessage {
  readonly role: string;
  readonly name?: string;
  readonly content?: string | readonly ChatPart[] | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
  readonly prefix?: boolean;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly ReasoningEntry[] | null;
}

interface ChatCall {
  readonly id: string;
  readonly type: string;
  /** Absent in a call of a custom tool. */
  readonly function?: { readonly name: string; readonly arguments: string };
}

interface ChatPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

export interface ReasoningEntry {
  readonly type: string;
  readonly text?: string;
  readonly signature?: string;
  readonly format?: string;
  readonly index?: number;
}

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly {
    readonly type: string;
    readonly function?: { readonly name: string; readonly strict?: boolean };
    readonly custom?: { readonly name: string };
  }[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: { readonly type: string };
  readonly reasoning_effort?: string;
  readonly reasoning_format?: string;
  readonly include_reasoning?: boolean;
  readonly reasoning?: { readonly effort?: string; readonly max_tokens?: number; readonly enabled?: boolean };
  readonly thinking?: { readonly type: string };
}

export const bearerKey = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer (.+)$/.exec(authorization ?? '')?.[1];

const textOf = (content: ChatMessage['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');

export const understandChat = ({ messages, tools = [] }: ChatBody): Asked => {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const newest = messages[asked]?.content;
  const parts = typeof newest === 'object' && newest !== null ? newest : [];
  return {
    text: textOf(newest),
    results: messages
      .slice(asked + 1)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content)),
    tools: tools.flatMap((tool) => (tool.function ?? tool.custom)?.name ?? []),
    images: parts.flatMap((part) => part.image_url?.url.match(/^data:([^;]+)/)?.[1] ?? (part.image_url ? 'url' : [])),
  };
};

/** The messages of the assistant that called tools since the user's last words. */
export const currentCallers = ({ messages }: ChatBody): readonly ChatMessage[] =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .filter(({ tool_calls = [] }) => tool_calls.length > 0);

export const hasImages = ({ messages }: ChatBody): boolean =>
  messages.some(({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'));

/** The first member of the body that isn't among those known; for servers that refuse all others. */
export const unknownField = (body: object, known: readonly string[]): string | undefined =>
  Object.keys(body).find((name) => !known.includes(name));

/** What the original, and all that look like it, would refuse. Source: OpenAI API reference, "Create chat completion". */
export const findChatComplaint = (body: ChatBody): string | undefined => {
  const { messages, tools, tool_choice, parallel_tool_calls, stream, stream_options } = body;
  if (tools === undefined && tool_choice !== undefined) return 'tool_choice without tools';
  if (tools === undefined && parallel_tool_calls !== undefined) return 'parallel_tool_calls without tools';
  if (!stream && stream_options !== undefined) return 'stream_options without stream';
  if (tools?.some((tool) => tool.function && !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name))) return 'tool name';
  let due: string[] = [];
  for (const { role, content, tool_calls, tool_call_id } of messages) {
    if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(role)) return `role ${role}`;
    if (role === 'tool') {
      if (!due.includes(tool_call_id ?? '')) return `tool message for an unknown call ${tool_call_id}`;
      due = due.filter((id) => id !== tool_call_id);
      continue;
    }
    if (due.length > 0) return `calls without a result: ${due.join(', ')}`;
    if (tool_calls?.length === 0) return 'empty tool_calls';
    due = (tool_calls ?? []).map(({ id }) => id);
    if (tool_calls?.some((call) => call.function && typeof call.function.arguments !== 'string'))
      return 'arguments is no string';
    if ((content ?? '') === '' && due.length === 0) return `an empty ${role} message`;
  }
  return due.length > 0 ? `calls without a result: ${due.join(', ')}` : undefined;
};

/** The word "json" must be in the prompt where JSON is asked for. */
export const lacksJsonWord = ({ messages, response_format }: ChatBody): boolean =>
  response_format?.type === 'json_object' && !messages.some(({ content }) => /json/i.test(textOf(content)));

export const chatUsage = {
  prompt_tokens: counts.prompt,
  completion_tokens: counts.output,
  total_tokens: counts.prompt + counts.output,
  prompt_tokens_details: { cached_tokens: counts.cached },
  completion_tokens_details: { reasoning_tokens: counts.reasoning },
};

/** A call as a whole message holds it. */
export const wholeCall = (call: NonNullable<Scripted['calls']>[number]) =>
  callWith(call, call.form === 'custom' ? String(call.input.input) : JSON.stringify(call.input));

/** A call with these arguments, or this input. Source: OpenAI API reference, "Create chat completion", `tool_calls`. */
export const callWith = ({ id, name, form }: NonNullable<Scripted['calls']>[number], given: string) =>
  form === 'custom'
    ? { id, type: 'custom', custom: { name, input: given } }
    : { id, type: 'function', function: { name, arguments: given } };

/** A whole reply around this message. */
export const chatReply = (head: object, message: object, finish: string, more: object = {}): string =>
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: finish }],
    ...more,
  });

/** One record of a stream. */
export const chatChunk = (head: object, delta: object, finish: string | null = null, more: object = {}): string =>
  sse({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  });
