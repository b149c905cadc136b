import { parseAs } from '../../parse-as.ts';
import { askedModel } from '../../wire.ts';
import type { Conversion } from './conversion.ts';
import type { ChatChunk, ChatReply, ChatRequest } from './shapes.ts';

/** Chat Completions on both sides, with everything read and written once: what a proxy costs that wants to see the text. */
export const chatToChat: Conversion = {
  request(text) {
    const body = { ...parseAs<ChatRequest>(text), model: askedModel };
    return { path: '/v1/chat/completions', body, streamed: body.stream ?? false };
  },
  reply: parseAs<ChatReply>,
  stream: () => ({
    record: (data) => `data: ${JSON.stringify(parseAs<ChatChunk>(data))}\n\n`,
    end: () => 'data: [DONE]\n\n',
  }),
};
