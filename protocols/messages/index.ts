import { isJsonObject } from '../../engine/model/json.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest, mends } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { encodeFault, errorEvent } from './faults.ts';
import { fieldNames } from './field-names.ts';
import { historyForbidsThinking } from './plan-thinking.ts';

export { messagesModelList } from './decode-models.ts';
export { decodeCountRequest } from './decode-request.ts';

/** Anthropic Messages, as clients speak it to the gateway. */
export const messagesClient: ClientProtocol = {
  wire: 'messages',
  decodeRequest,
  mends,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  encodeBreak: (fault, requestId) => `\n\n${errorEvent(fault, requestId)}`,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  terminators: ['\nevent: message_stop', '\nevent:message_stop', '\nevent: error', '\nevent:error'],
};

/** Anthropic Messages, as the gateway speaks it to an upstream. */
export const messagesUpstream: UpstreamProtocol = {
  wire: 'messages',
  encodeRequest,
  decodeStream,
  decodeReply,
  decodeFault,
  takesAsItCame: (request) => !historyForbidsThinking(request),
  mayReason: ({ thinking }) => isJsonObject(thinking) && thinking.type !== 'disabled',
};
