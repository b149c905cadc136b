import {
  bearerKey,
  type ChatBody,
  chatChunk,
  chatReply,
  chatUsage,
  currentCallers,
  findChatComplaint,
  type ReasoningEntry,
  understandChat,
  wholeCall,
} from './chat-wire.ts';
import { pieces, type Scripted, scripted, sse, thought } from './script.ts';
import type { Vendor } from './vendor.ts';

/** The only signature that the vendor behind this router issued. */
const routerSignature = 'ErUBCkYICRgCIkA+router/signature==';

/** OpenRouter, with a vendor behind it that wants its sealed reasoning back. */
export const openrouterVendor: Vendor<ChatBody> = {
  paths: /^\/api\/v1\/chat\/completions$/,
  key: bearerKey,
  understand: understandChat,
  complaint: findComplaint,
  failure: (code, message) => ({
    body: { error: { code, message, metadata: { provider_name: 'Vendor', raw: '{}' } }, user_id: 'user_vendor' },
    headers: code === 429 ? { 'retry-after': '7' } : {},
  }),
  answer(body, _url, script = scripted) {
    const { thinking, ...rest } = script(understandChat(body));
    const answer: Scripted = thinking === undefined || !thinks(body) ? rest : { ...rest, thinking };
    return body.stream
      ? { type: 'stream', pieces: streamOf(answer, body) }
      : { type: 'json', text: `\n         \n${replyOf(answer, body)}` };
  },
  payload: routerSignature,
};

const thinks = ({ reasoning, reasoning_effort }: ChatBody): boolean =>
  reasoning !== undefined ? reasoning.effort !== 'none' : reasoning_effort !== undefined && reasoning_effort !== 'none';

/** Source: OpenRouter documentation, "Reasoning Tokens", "Preserving reasoning". */
function findComplaint(body: ChatBody): string | undefined {
  const { messages, reasoning } = body;
  if (reasoning?.effort !== undefined && reasoning.max_tokens !== undefined)
    return 'only one of "reasoning.effort" and "reasoning.max_tokens" can be specified';
  for (const { reasoning_details } of messages) {
    if (reasoning_details && !isWhole(reasoning_details)) return '`thinking` blocks cannot be modified';
  }
  if (thinks(body) && currentCallers(body).some(({ reasoning_details }) => !reasoning_details?.length))
    return 'Expected `thinking`, but found `tool_use`';
  return findChatComplaint(body);
}

/** The entries, or their fragments in order, hold what was given: text and seal. */
const isWhole = (entries: readonly ReasoningEntry[]): boolean =>
  entries.every(({ type, format, index }) => type === 'reasoning.text' && format === entryHead.format && index === 0) &&
  entries.map(({ text = '' }) => text).join('') === thought &&
  entries.map(({ signature = '' }) => signature ?? '').join('') === routerSignature;

const entryHead = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 } as const;

const usage = {
  ...chatUsage,
  cost: 0.0012,
  is_byok: false,
  cost_details: { upstream_inference_cost: null },
};

const head = ({ model }: ChatBody) => ({
  id: 'gen-1700000000-vendor',
  provider: 'Vendor',
  created: 1_700_000_000,
  model: `${model}-0001`,
});

const replyOf = ({ thinking, text, calls }: Scripted, body: ChatBody): string =>
  chatReply(
    head(body),
    {
      content: text ?? '',
      refusal: null,
      reasoning: thinking ?? null,
      ...(thinking !== undefined && {
        reasoning_details: [{ ...entryHead, text: thinking, signature: routerSignature }],
      }),
      ...(calls && { tool_calls: calls.map((call, index) => ({ ...wholeCall(call), index })) }),
    },
    calls ? 'tool_calls' : 'stop',
    { usage },
  );

const streamOf = ({ thinking, text, calls = [] }: Scripted, body: ChatBody): string[] => {
  const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
    chatChunk(head(body), { role: 'assistant', content: '', ...delta }, finish, more);
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  const comment = ': OPENROUTER PROCESSING\n\n';
  return [
    comment,
    comment,
    ...(thinking === undefined
      ? []
      : [
          ...pieces(thinking).map((piece) =>
            chunk({ reasoning: piece, reasoning_details: [{ ...entryHead, text: piece }] }),
          ),
          chunk({ reasoning_details: [{ ...entryHead, signature: routerSignature }] }),
        ]),
    comment,
    ...pieces(text ?? '').map((piece) => chunk({ content: piece })),
    ...calls.flatMap(({ id, name, input }, index) => [
      chunk({ content: null, tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...['', ...pieces(JSON.stringify(input))].map((piece) =>
        chunk({ content: null, tool_calls: [{ index, type: 'function', function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finish, { native_finish_reason: finish }),
    chunk({}, finish, { usage }),
    sse('[DONE]'),
  ];
};
