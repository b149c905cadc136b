import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { wireFormat } from './call-id.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeStream } from './decode-stream.ts';
import type { GeminiOptions } from './dialect.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeFault } from './faults.ts';

export { geminiModelList } from './decode-models.ts';
export type { GeminiOptions, SchemaForm } from './dialect.ts';

/** `generateContent` as the gateway speaks it to an upstream. What models differ in goes by the name in the request. */
export const geminiUpstream = (options: GeminiOptions = {}): UpstreamProtocol => ({
  wire: wireFormat,
  encodeRequest: encodeRequest(options),
  decodeStream,
  decodeReply,
  decodeFault,
});
