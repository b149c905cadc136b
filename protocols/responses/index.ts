import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';
import type { ClientProtocol, StreamEnd, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { rateLimitHeaders } from '../../engine/model/rate-limit.ts';
import { errorIn } from '../../engine/model/upstream-error/error-in.ts';
import { callIdsFit } from '../../engine/model/wire/call-ids.ts';
import { recordType } from '../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../engine/model/wire/sse-record.ts';
import { responsesSummary } from './compact.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply/decode-reply.ts';
import { decodeStream, usageIn } from './decode-reply/decode-stream.ts';
import { plainReply } from './decode-reply/plain-reply.ts';
import { decodeRequest, ownWireField } from './decode-request/decode-request.ts';
import { callIdForm, type ResponsesServer, responsesTraits } from './dialect.ts';
import { encodeBreak, encodeFault, encodeProgress } from './encode-fault.ts';
import { encodeReply } from './encode-reply/encode-reply.ts';
import { encodeStream } from './encode-reply/encode-stream.ts';
import { holdsPackedSignature } from './encode-request/encode-reasoning.ts';
import { encodeRequest } from './encode-request/encode-request.ts';
import { without } from './encode-request/narrow.ts';
import { fieldNames } from './field-names.ts';
import { responsesClientGrammar, responsesServerGrammar } from './grammar.ts';
import { responsesSocket } from './socket/socket.ts';
import { responsesUpstreamSocket } from './socket/upstream-socket.ts';

export { openAiEfforts, openAiModels } from './dialect.ts';

const endTypes = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

/** Of a terminal error, and of what it must follow. */
const failureTypes: ReadonlySet<string | undefined> = new Set([
  'error',
  'response.failed',
  'response.incomplete',
  'response.cancelled',
]);

/** `response.failed` follows an `error` event, but not from every upstream. */
const readEnd = (record: SseRecord): StreamEnd | undefined => {
  const type = recordType(record);
  if (type === undefined) {
    const value = parseJson(record.data);
    return isJsonObject(value) && errorIn(value, 'response') !== undefined ? 'fault' : undefined;
  }
  return endTypes.includes(type) ? 'end' : type === 'error' ? 'finish' : undefined;
};

const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The client side of the Responses protocol. */
export const responsesClient: ClientProtocol = {
  wire: 'responses',
  path: '/v1/responses',
  question: (model, text) => ({ model, input: text }),
  turns: 'input',
  decodeRequest,
  texts: new Set(['content', 'text', 'arguments', 'input', 'output']),
  needsRepair: holdsPackedSignature,
  returnsReasoning: true,
  ownWireField,
  summary: responsesSummary,
  // Sent by Codex, older spellings first; newer versions send only the newer ones.
  sessionHeaders: ['session_id', 'session-id', 'conversation_id', 'thread-id'],
  // Codex sends its conversation's id, a UUID. A key of another form may belong to a whole application.
  sessionIn: ({ promptCacheKey }) =>
    promptCacheKey !== undefined && uuidForm.test(promptCacheKey) ? promptCacheKey : undefined,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  limitHeaders: rateLimitHeaders,
  encodeBreak,
  grammar: responsesClientGrammar,
  numberMarker: '"sequence_number"',
  keepAlive: ': keep-alive\n\n',
  encodeProgress,
  // Coding agents compact the conversation on this fault, but recognize it only in a stream.
  inStreamFaults: new Set(['upstream-context']),
  socket: responsesSocket,
  ends: {
    marker: /response\.(?:completed|incomplete|failed|cancelled)|"error"|event: ?error/,
    read: readEnd,
    isFailure: (record) => failureTypes.has(recordType(record)),
  },
};

/** The upstream side of the Responses protocol, for one kind of server. */
const upstreamOf = (server: ResponsesServer): UpstreamProtocol => ({
  wire: 'responses',
  prompt: { front: ['tools', 'instructions'], list: 'input' },
  acceptsRelay: (request) => !responsesTraits(request.model).limitsCallIds || callIdsFit(request, callIdForm),
  compacts: true,
  encodeRequest: (request, context) => encodeRequest(request, context, server),
  decodeStream,
  decodeReply,
  decodeFault,
  grammar: responsesServerGrammar(server),
  contentMarker: 'response.',
  usageIn,
  plainReply,
  socket: responsesUpstreamSocket,
  // Encrypted reasoning is returned only on request.
  mayReason: ({ include }) => Array.isArray(include) && include.includes('reasoning.encrypted_content'),
});

/** OpenAI's own servers, and those known to follow all of the protocol. */
export const responsesUpstream = upstreamOf('full');

/** Servers that take all of it but these members. */
export const responsesUpstreamWithout = (...refused: readonly string[]): UpstreamProtocol => ({
  ...responsesUpstream,
  encodeRequest: (request, context) =>
    without(responsesUpstream.encodeRequest(request, context), refused, context.losses),
});

/** Servers that are like them: a converted request has the form that all accept. */
export const narrowResponsesUpstream = upstreamOf('narrow');
