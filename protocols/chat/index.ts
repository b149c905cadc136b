import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import type { ChatDialect } from './dialect.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { encodeBreak, encodeFault } from './faults.ts';

export { type ChatDialect, type ChatField, plainDialect, plainEfforts } from './dialect.ts';

/** Chat Completions as clients speak it. */
export const chatClient: ClientProtocol = {
  wire: 'chat',
  decodeRequest,
  encodeStream,
  encodeReply,
  encodeFault,
  encodeBreak,
  keepAlive: ': keep-alive\n\n',
  // A stream that failed ends without `[DONE]`.
  terminators: ['\ndata: [DONE]', '\ndata:[DONE]', '"error":{', '"error": {'],
};

/** Chat Completions as one vendor speaks it. */
export const chatUpstream = (dialect: ChatDialect): UpstreamProtocol => ({
  wire: 'chat',
  encodeRequest: encodeRequest(dialect),
  decodeStream,
  decodeReply,
  decodeFault,
});
