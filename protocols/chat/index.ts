import type { JsonObject } from '../../engine/model/json/json.ts';
import { chain, runWhole } from '../../engine/model/machine.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { rateLimitHeaders } from '../../engine/model/rate-limit.ts';
import { splitReasoning } from '../../engine/model/reasoning/split-reasoning.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { type KnownModels, traitsByModel } from '../../engine/model/transformer.ts';
import { callIdsFit } from '../../engine/model/wire/call-ids.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply/decode-reply.ts';
import { decodeStream, isFailure, isUsageRecord, readEnd, usageIn } from './decode-reply/decode-stream.ts';
import { decodeRequest, readsFunctionCalls, usesFunctions } from './decode-request/decode-request.ts';
import { type ChatDialect, searchModels } from './dialect.ts';
import { encodeBreak, encodeFault } from './encode-fault.ts';
import { encodeReply } from './encode-reply/encode-reply.ts';
import { encodeStream } from './encode-reply/encode-stream.ts';
import { loopForbidsThinking } from './encode-request/encode-reasoning.ts';
import { encodeRequest } from './encode-request/encode-request.ts';
import { fieldNames } from './field-names.ts';
import { chatClientGrammar, chatServerGrammar } from './grammar.ts';
import { hasRefused } from './refused.ts';
import { finishRecord, mayFailNatively, terminal } from './reply-end.ts';

export {
  type ChatDialect,
  type ChatField,
  plainDialect,
  plainEfforts,
  searchModels,
  thinkingSwitch,
} from './dialect.ts';
export { chatModelList } from './models.ts';

/** The client side of Chat Completions. */
export const chatClient: ClientProtocol = {
  wire: 'chat',
  path: '/v1/chat/completions',
  question: (model, text) => ({ model, max_tokens: 1024, messages: [{ role: 'user', content: text }] }),
  turns: 'messages',
  decodeRequest,
  texts: new Set(['content', 'text', 'arguments']),
  needsRepair: usesFunctions,
  rewritesReply: readsFunctionCalls,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  limitHeaders: rateLimitHeaders,
  encodeBreak,
  grammar: chatClientGrammar,
  keepAlive: ': keep-alive\n\n',
  ends: {
    marker: /\[DONE\]|"(?:error"|finish_reason": ?"|(?:base_resp|code)":|usage": ?\{)/,
    read: readEnd,
    isFailure,
    terminal,
    encodeFinish: finishRecord,
    calls: {
      marker: /"(?:tool_calls|function_call)"/,
      eitherMarker:
        /\[DONE\]|"(?:error"|finish_reason": ?"|(?:base_resp|code)":|usage": ?\{|(?:tool_calls|function_call)")/,
    },
  },
  isUsageRecord,
};

const acceptsRelay =
  (dialectOf: (model: string) => ChatDialect) =>
  (request: ModelRequest, body: JsonObject): boolean => {
    const dialect = dialectOf(request.model);
    const thinks = request.reasoning !== undefined;
    return (
      passes(request, body, dialect) &&
      (dialect.streamUsage || body.stream_options === undefined) &&
      acceptsCallIds(request, dialect) &&
      !(thinks && loopForbidsThinking(request, dialect))
    );
  };

const passes = (request: ModelRequest, body: JsonObject, dialect: ChatDialect): boolean => {
  const { relays } = dialect;
  switch (relays) {
    case 'all':
      return true;
    case 'without-web-search':
      return !request.tools.some((tool) => tool.type === 'web-search');
    case 'without-refused':
      return !hasRefused(request, body, dialect);
    case 'none':
      return false;
    default:
      return relays satisfies never;
  }
};

/** Whether the model accepts all call ids of this request unchanged. */
const acceptsCallIds = (request: ModelRequest, { callIds }: ChatDialect): boolean =>
  !callIds?.strict || callIdsFit(request, callIds);

/**
 * The upstream side of Chat Completions for one vendor: the dialect of its newest models, and the known differences
 * of others. An unknown model counts as newest.
 */
export const chatUpstream = (
  newest: ChatDialect,
  known: readonly KnownModels<ChatDialect>[] = [searchModels],
): UpstreamProtocol => {
  const dialectOf = traitsByModel(newest, known);
  return {
    wire: 'chat',
    reportsProbabilities: true,
    prompt: { front: ['tools'], list: 'messages' },
    acceptsRelay: acceptsRelay(dialectOf),
    readsImages: (model) => dialectOf(model).images,
    encodeRequest: encodeRequest(dialectOf),
    ...answers(newest),
    grammar: chatServerGrammar(newest.breaks),
    usageMembers: ({ model }) =>
      dialectOf(model).streamUsage ? { stream_options: { include_usage: true } } : undefined,
    decodeFault,
    contentMarker: '"choices"',
    reasoningMarker: '"reasoning',
    mayReason: () => newest.reasoningHistory !== undefined,
    usageIn,
    plainReply: {
      end: /"(?:usage|service_tier)":/,
      finish: /"finish_reason": ?"(?:stop|length|tool_calls)"/,
      failure: new RegExp(
        `"(?:error|network_error|base_resp|insufficient_system_resource|model_context_window_exceeded)"|${mayFailNatively.source}`,
      ),
      // Reasoning is in members of its own, in those of calls, in parts of the content, or in tags at the start of the text, perhaps
      // after white space: `\xc2`, `\xe1` to `\xe3` and `\xef` begin that in UTF-8.
      reasoning:
        /"(?:(?:reasoning(?:_content|_text|_details)?|thinking)"(?!: ?(?:null|""))|function"|custom"|content"(?!: ?(?:null|"[^\s<\\\xc2\xe1-\xe3\xef])))/,
    },
  };
};

/** The reply decoders; they move reasoning out of tags in the text. */
const answers = ({ reasoningTags: tags }: ChatDialect): Pick<UpstreamProtocol, 'decodeStream' | 'decodeReply'> => {
  if (tags.length === 0) return { decodeStream, decodeReply };
  const split = splitReasoning({ tags, shows: true });
  return {
    decodeStream: chain(decodeStream, split),
    decodeReply: (body, context) => runWhole(split, context, decodeReply(body, context)),
  };
};
