import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import type { ChatDialect } from './dialect.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { encodeBreak, encodeFault } from './faults.ts';
import { fieldNames } from './field-names.ts';
import { loopForbidsThinking } from './open-loop.ts';

export { chatModelList } from './decode-models.ts';
export { type ChatDialect, type ChatField, plainDialect, plainEfforts } from './dialect.ts';

/** Chat Completions as clients speak it. */
export const chatClient: ClientProtocol = {
  wire: 'chat',
  decodeRequest,
  fieldNames,
  encodeStream,
  encodeReply,
  encodeFault,
  encodeBreak,
  keepAlive: ': keep-alive\n\n',
  // A stream that failed ends without `[DONE]`.
  terminators: ['\ndata: [DONE]', '\ndata:[DONE]', '"error":{', '"error": {'],
};

const takesAsItCame =
  (dialect: ChatDialect) =>
  (request: ModelRequest): boolean => {
    const searches = request.tools.some((tool) => tool.type === 'web-search');
    const all = dialect.asItCame === 'all' || (dialect.asItCame === 'without-web-search' && !searches);
    return all && !loopForbidsThinking(request, dialect);
  };

/** Chat Completions as one vendor speaks it. */
export const chatUpstream = (dialect: ChatDialect): UpstreamProtocol => ({
  wire: 'chat',
  takesAsItCame: takesAsItCame(dialect),
  encodeRequest: encodeRequest(dialect),
  decodeStream,
  decodeReply,
  decodeFault,
  reasoningSign: '"reasoning',
  mayReason: () => dialect.reasoningHistory !== undefined,
});
