import type { UpstreamProtocol } from '../../engine/model/protocol.ts';
import { decodeFault } from './decode-fault.ts';
import { decodeReply } from './decode-reply/decode-reply.ts';
import { decodeStream } from './decode-reply/decode-stream.ts';
import type { GeminiOptions } from './dialect.ts';
import { encodeRequest } from './encode-request/encode-request.ts';
import { wireFormat } from './tool-names.ts';

export { geminiModelList } from './models.ts';

/** The upstream side of `generateContent`. The dialect follows the request's model. */
export const geminiUpstream = (options: GeminiOptions = {}): UpstreamProtocol => ({
  wire: wireFormat,
  prompt: { front: ['tools', 'systemInstruction'], list: 'contents' },
  encodeRequest: encodeRequest(options),
  decodeStream,
  endsByClosing: true,
  decodeReply,
  decodeFault,
  contentMarker: '"candidates"',
});
