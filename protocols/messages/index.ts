import { isJsonObject } from '../../engine/model/json/json.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { recordType } from '../../engine/model/sse.ts';
import { boundOutput } from './bound-output.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest, needsRepair, sessionIn } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeFault, errorEvent } from './encode-fault.ts';
import { historyForbidsThinking } from './encode-reasoning.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { fieldNames } from './field-names.ts';
import { limitHeaders } from './limit-headers.ts';

export { messagesModelList } from './models.ts';

/** The client side of Anthropic Messages. */
export const messagesClient: ClientProtocol = {
  wire: 'messages',
  decodeRequest,
  texts: new Set(['content', 'text', 'thinking']),
  needsRepair,
  // Sent by Claude Code if configured. Source: its documentation, "LLM gateway", hint headers.
  agentHeaders: {
    requestClass: 'x-claude-code-request-class',
    agentType: 'x-claude-code-agent-type',
    compaction: 'x-claude-code-compaction',
  },
  sessionHeaders: ['x-claude-code-session-id'],
  sessionIn,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  limitHeaders,
  encodeBreak: (fault, requestId) => `\n\n${errorEvent(fault, requestId)}`,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  ends: {
    marker: /message_stop|"error"|event: ?error/,
    read: (record) => (endTypes.has(recordType(record) ?? '') ? 'end' : undefined),
  },
};

const endTypes: ReadonlySet<string> = new Set(['message_stop', 'error']);

/** The upstream side of Anthropic Messages. */
export const messagesUpstream: UpstreamProtocol = {
  wire: 'messages',
  encodeRequest,
  decodeStream,
  decodeReply,
  decodeFault,
  acceptsVerbatim: (request) => !historyForbidsThinking(request),
  mayReason: ({ thinking }) => isJsonObject(thinking) && thinking.type !== 'disabled',
};

/** The same for a model with a known output limit, in tokens. */
export const messagesUpstreamLimitedTo = (maxOutput: number): UpstreamProtocol => ({
  ...messagesUpstream,
  encodeRequest: (request, context) => encodeRequest(boundOutput(request, maxOutput), context),
});
