import { unsupported } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { decodePartialRequest, serverState } from './decode-request/decode-request.ts';

/** Token counting in this protocol. Source: OpenAI API reference, "Get input token counts". */
export const responsesCounting = {
  /** All members but the model are optional. State on the vendor's server can't be counted. */
  decodeCount(body: JsonObject): ModelRequest {
    const field = serverState(body);
    if (field !== undefined) unsupported(field, `${field} is kept by the vendor, so its tokens can't be counted here.`);
    return decodePartialRequest(body);
  },
  reply: { object: 'response.input_tokens' },
};
