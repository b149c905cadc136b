import {
  bearerKey,
  type ChatBody,
  callWith,
  chatChunk,
  chatReply,
  chatUsage,
  findChatComplaint,
  understandChat,
  wholeCall,
} from './chat-wire.ts';
import { pieces, type Scripted, scripted, sse, thought } from './script.ts';
import type { Vendor, VendorAnswer } from './vendor.ts';

/** A vendor of Chat Completions that is as strict as the original. */
export const chatVendor: Vendor<ChatBody> = {
  paths: /^\/v1\/chat\/completions$/,
  key: bearerKey,
  understand: understandChat,
  complaint: findChatComplaint,
  failure: (status, message) => ({
    body: { error: { message, type: types[status] ?? 'server_error', param: null, code: codes[status] ?? null } },
    headers: status === 429 ? { 'retry-after': '7' } : {},
  }),
  answer: (body, _url, script = scripted) => writeChat(script(understandChat(body)), body),
  payload: thought,
};

/** How servers of Chat Completions differ in their answers. */
interface ChatDialect {
  /** The member that holds reasoning; absent: it isn't shown. */
  readonly reasoning?: string;
  /** What each call has beside the usual members. */
  readonly callMembers?: object;
}

/** The answer, streamed or whole as the body asks for. */
export const writeChat = (
  { thinking, ...rest }: Scripted,
  body: ChatBody,
  { reasoning, callMembers = {} }: ChatDialect = { reasoning: 'reasoning_content' },
): VendorAnswer => {
  const thoughts = thinking === undefined || reasoning === undefined ? undefined : { [reasoning]: thinking };
  return body.stream
    ? { type: 'stream', pieces: streamOf(rest, thoughts, callMembers, body) }
    : { type: 'json', text: replyOf(rest, thoughts, callMembers, body) };
};

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'requests',
};
const codes: Readonly<Record<number, string>> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' };

const head = ({ model }: ChatBody) => ({ id: 'chatcmpl-vendor', created: 1_700_000_000, model: `${model}-0001` });

type Thoughts = Readonly<Record<string, string>> | undefined;

const replyOf = ({ text, calls }: Scripted, thoughts: Thoughts, callMembers: object, body: ChatBody): string =>
  chatReply(
    head(body),
    {
      content: text ?? null,
      refusal: null,
      ...thoughts,
      ...(calls && { tool_calls: calls.map((call) => ({ ...wholeCall(call), ...callMembers })) }),
    },
    calls ? 'tool_calls' : 'stop',
    { usage: chatUsage },
  );

const streamOf = (
  { text, calls = [] }: Scripted,
  thoughts: Thoughts,
  callMembers: object,
  body: ChatBody,
): string[] => {
  const withUsage = body.stream_options?.include_usage === true;
  const chunk = (delta: object, finish: string | null = null) =>
    chatChunk(head(body), delta, finish, withUsage ? { usage: null } : {});
  const fragments = calls.map(({ form, input }) =>
    pieces(form === 'custom' ? String(input.input) : JSON.stringify(input)),
  );
  const opened = calls.map((call, index) => chunk({ tool_calls: [{ index, ...callWith(call, ''), ...callMembers }] }));
  // Arguments of parallel calls come mixed, as some servers send them.
  const longest = Math.max(0, ...fragments.map(({ length }) => length));
  const mixed = Array.from({ length: longest }, (_, turn) =>
    fragments.flatMap((list, index) => {
      const piece = list[turn];
      const given = calls[index]?.form === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } };
      return piece === undefined ? [] : [chunk({ tool_calls: [{ index, ...given }] })];
    }),
  ).flat();
  return [
    chunk({ role: 'assistant', content: '' }),
    ...Object.entries(thoughts ?? {}).flatMap(([member, thought]) =>
      pieces(thought).map((piece) => chunk({ [member]: piece })),
    ),
    ...pieces(text ?? '').map((piece) => chunk({ content: piece })),
    ...opened,
    ...mixed,
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(withUsage ? [sse({ ...head(body), object: 'chat.completion.chunk', choices: [], usage: chatUsage })] : []),
    sse('[DONE]'),
  ];
};
