import { parseAs } from '../../parse-as.ts';
import { askedModel } from '../../wire.ts';
import { type Conversion, namedEvent } from './conversion.ts';
import type { ResponsesEvent, ResponsesReply, ResponsesRequest } from './shapes.ts';

/** Responses on both sides, with everything read and written once: what a proxy costs that wants to see the text. */
export const responsesToResponses: Conversion = {
  request(text) {
    const { type: _, ...request } = parseAs<ResponsesRequest>(text);
    const body = { ...request, model: askedModel };
    return { path: '/v1/responses', body, streamed: body.stream ?? false };
  },
  reply: parseAs<ResponsesReply>,
  stream: (write = namedEvent) => ({
    record(data) {
      const { type, ...event } = parseAs<ResponsesEvent>(data);
      return write(type, event);
    },
    end: () => '',
  }),
};
