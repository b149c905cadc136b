import type { SummaryForm } from '../../engine/model/compaction.ts';
import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { ClientProtocol, Headers, StreamEnd, UpstreamProtocol } from '../../engine/model/protocol.ts';
import type { RateLimit } from '../../engine/model/rate-limit.ts';
import { recordType } from '../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { membersWithoutAttribution, safeguardsWithoutContext, withoutAttribution } from './attribution.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply/decode-reply.ts';
import { decodeStream, reportedError } from './decode-reply/decode-stream.ts';
import { decodeRequest, needsRepair, ownWireField, sessionIn } from './decode-request/decode-request.ts';
import { ownMark } from './decode-request/open-summaries.ts';
import { type MessagesServer, messagesTraits } from './dialect.ts';
import { encodeFault, errorEvent } from './encode-fault.ts';
import { encodeReply } from './encode-reply/encode-reply.ts';
import { encodeStream } from './encode-reply/encode-stream.ts';
import { historyForbidsThinking } from './encode-request/encode-reasoning.ts';
import { boundOutput, encodeRequest } from './encode-request/encode-request.ts';
import { fieldNames } from './field-names.ts';
import { messagesClientGrammar, messagesServerGrammar } from './grammar.ts';
import { expressRequest } from './other-wires/express-request.ts';
import { refusesReasoning } from './refuses-reasoning.ts';
import { decodeUsage } from './reply-end.ts';

export { bindingBetaOf } from './encode-request/encode-reasoning.ts';
export { messagesModelList } from './models.ts';

/**
 * Rate limits as this protocol's response headers. The reset is a time in RFC 3339. Source: Anthropic API reference, "Rate
 * limits", "Response headers".
 */
const limitHeaders = (rates: readonly RateLimit[]): Headers =>
  Object.fromEntries(
    rates.flatMap(({ of, limit, remaining, resetAtMs }) => [
      [`anthropic-ratelimit-${of}-limit`, String(limit)],
      [`anthropic-ratelimit-${of}-remaining`, String(remaining)],
      [`anthropic-ratelimit-${of}-reset`, timeText(resetAtMs)],
    ]),
  );

/** Whole seconds, rounded up, so that clients don't retry too early. */
const timeText = (ms: number): string => `${new Date(Math.ceil(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;

const endTypes: ReadonlySet<string> = new Set(['message_stop', 'error']);

const readEnd = (record: SseRecord): StreamEnd | undefined => {
  const type = recordType(record);
  if (type !== undefined) return endTypes.has(type) ? 'end' : undefined;
  const value = parseJson(record.data);
  return isJsonObject(value) && reportedError(value) !== undefined ? 'fault' : undefined;
};

/** Source: Anthropic documentation, "Compaction", beta of September 2026; the types of the vendor's SDK. */
const messagesSummary: SummaryForm = {
  wire: 'messages',
  begin: () => ({ type: 'compaction', content: null, encrypted_content: null }),
  complete: (summary) => ({ type: 'compaction_delta', content: summary, encrypted_content: ownMark }),
  finish: 'compaction',
};

/** The client side of Anthropic Messages. */
export const messagesClient: ClientProtocol = {
  wire: 'messages',
  path: '/v1/messages',
  question: (model, text) => ({ model, max_tokens: 1024, messages: [{ role: 'user', content: text }] }),
  turns: 'messages',
  decodeRequest,
  texts: new Set(['content', 'text', 'thinking']),
  needsRepair,
  ownWireField,
  forOtherWires: expressRequest,
  summary: messagesSummary,
  // Sent by Claude Code if configured. Source: its documentation, "LLM gateway", hint headers.
  agentHeaders: {
    requestClass: 'x-claude-code-request-class',
    agentType: 'x-claude-code-agent-type',
    compaction: 'x-claude-code-compaction',
  },
  sessionHeaders: ['x-claude-code-session-id'],
  sessionIn,
  returnsReasoning: true,
  attribution: {
    textWithout: withoutAttribution,
    fieldsWithout: safeguardsWithoutContext,
    membersWithout: membersWithoutAttribution,
  },
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  limitHeaders,
  encodeBreak: (fault, requestId) => [errorEvent(fault, requestId)],
  grammar: messagesClientGrammar,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  ends: {
    marker: /message_stop|"error"|event: ?error|"usage": ?\{/,
    read: readEnd,
    isFailure: () => false,
  },
};

/** The server of the models, and the maximum tokens of an answer, if known. */
interface MessagesUpstream {
  readonly server: MessagesServer;
  readonly maxOutput?: number | undefined;
}

/** The upstream side of Messages. */
export const messagesUpstreamOf = ({ server, maxOutput }: MessagesUpstream): UpstreamProtocol => ({
  wire: 'messages',
  prompt: { front: ['tools', 'system'], list: 'messages' },
  ...(server === 'vendor' && { readsAttribution: true, compacts: true }),
  encodeRequest: (request, context) =>
    encodeRequest(maxOutput === undefined ? request : boundOutput(request, maxOutput, server), context, server),
  decodeStream,
  decodeReply,
  decodeFault,
  grammar: messagesServerGrammar(server),
  contentMarker: 'message_start',
  refusesReasoning,
  acceptsRelay: (request) => !historyForbidsThinking(request, messagesTraits(request.model, server)),
  usageIn: ({ message, usage }) => decodeUsage(isJsonObject(message) ? message.usage : usage),
  plainReply: {
    end: /"usage":/,
    finish: /"stop_reason": ?"(?:end_turn|max_tokens|stop_sequence|tool_use)"/,
    failure: /"error"/,
    reasoning: /"(?:redacted_)?thinking"/,
  },
  mayReason: ({ thinking }) => isJsonObject(thinking) && thinking.type !== 'disabled',
});

/** The upstream side of Anthropic Messages. */
export const messagesUpstream: UpstreamProtocol = messagesUpstreamOf({ server: 'vendor' });
