import { counts, pieces, type Scripted, scripted, sse } from './script.ts';
import type { Vendor } from './vendor.ts';

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ChatPart[] | null;
  readonly tool_calls?: readonly { readonly id: string; readonly type: string; readonly function: ChatFunction }[];
  readonly tool_call_id?: string;
}

interface ChatPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

interface ChatFunction {
  readonly name: string;
  readonly arguments: string;
}

interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly { readonly type: string; readonly function: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean;
}

/** A vendor of Chat Completions that is as strict as the original. */
export const chatVendor: Vendor<ChatBody> = {
  path: '/v1/chat/completions',
  complaint: findComplaint,
  error: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  answer(body) {
    const answer = scripted(understand(body));
    return body.stream
      ? { type: 'stream', pieces: streamOf(answer, body) }
      : { type: 'json', body: replyOf(answer, body) };
  },
};

const textOf = (content: ChatMessage['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');

const understand = ({ messages, tools = [] }: ChatBody) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const newest = messages[asked]?.content;
  const parts = typeof newest === 'object' && newest !== null ? newest : [];
  return {
    text: textOf(newest),
    results: messages
      .slice(asked + 1)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content)),
    tools: tools.map((tool) => tool.function.name),
    images: parts.flatMap((part) => part.image_url?.url.match(/^data:([^;]+)/)?.[1] ?? (part.image_url ? 'url' : [])),
  };
};

/** What the original would refuse. Source: OpenAI API reference, "Create chat completion". */
function findComplaint({ messages, tools, tool_choice, parallel_tool_calls, stream, stream_options }: ChatBody) {
  if (tools === undefined && tool_choice !== undefined) return 'tool_choice without tools';
  if (tools === undefined && parallel_tool_calls !== undefined) return 'parallel_tool_calls without tools';
  if (!stream && stream_options !== undefined) return 'stream_options without stream';
  if (tools?.some((tool) => tool.type === 'function' && !/^[a-zA-Z0-9_-]{1,64}$/.test(tool.function.name)))
    return 'tool name';
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
    if (tool_calls?.some((call) => typeof call.function.arguments !== 'string')) return 'arguments is no string';
    if ((content ?? '') === '' && due.length === 0) return `an empty ${role} message`;
  }
  return due.length > 0 ? `calls without a result: ${due.join(', ')}` : undefined;
}

const usage = {
  prompt_tokens: counts.prompt,
  completion_tokens: counts.output,
  total_tokens: counts.prompt + counts.output,
  prompt_tokens_details: { cached_tokens: counts.cached },
  completion_tokens_details: { reasoning_tokens: counts.reasoning },
};

const head = ({ model }: ChatBody) => ({ id: 'chatcmpl-vendor', created: 1_700_000_000, model: `${model}-0001` });

const replyOf = ({ thinking, text, calls }: Scripted, body: ChatBody) => ({
  ...head(body),
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: text ?? null,
        refusal: null,
        ...(thinking !== undefined && { reasoning_content: thinking }),
        ...(calls && {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }),
      },
      logprobs: null,
      finish_reason: calls ? 'tool_calls' : 'stop',
    },
  ],
  usage,
});

const streamOf = ({ thinking, text, calls = [] }: Scripted, body: ChatBody): string[] => {
  const withUsage = body.stream_options?.include_usage === true;
  const chunk = (delta: object, finish: string | null = null) =>
    sse({
      ...head(body),
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(withUsage && { usage: null }),
    });
  const fragments = calls.map(({ input }) => pieces(JSON.stringify(input)));
  const opened = calls.map(({ id, name }, index) =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
  );
  // Arguments of parallel calls come mixed, as some servers send them.
  const longest = Math.max(0, ...fragments.map(({ length }) => length));
  const mixed = Array.from({ length: longest }, (_, turn) =>
    fragments.flatMap((list, index) => {
      const piece = list[turn];
      return piece === undefined ? [] : [chunk({ tool_calls: [{ index, function: { arguments: piece } }] })];
    }),
  ).flat();
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(thinking ?? '').map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(text ?? '').map((piece) => chunk({ content: piece })),
    ...opened,
    ...mixed,
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(withUsage ? [sse({ ...head(body), object: 'chat.completion.chunk', choices: [], usage })] : []),
    sse('[DONE]'),
  ];
};
