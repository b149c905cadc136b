import type { SocketChain, UpstreamRequest, UpstreamSocket } from '../../../engine/model/wire/upstream-socket.ts';
import { seenItems } from './chain.ts';
import { type CreateBody, createBodyOf, createMessage } from './create-body.ts';
import { UpstreamReader } from './upstream-reader.ts';

/** A request as `response.create`. */
class CreateRequest implements UpstreamRequest {
  readonly #body: CreateBody;

  constructor(body: CreateBody) {
    this.#body = body;
  }

  get opening(): string {
    return this.#body.items[0] ?? '';
  }

  message(): string {
    return createMessage(this.#body);
  }

  messageAfter(chain: SocketChain): string | undefined {
    const seen = seenItems(chain, this.#body);
    return seen === undefined ? undefined : createMessage(this.#body, { responseId: chain.responseId, seen });
  }

  answerReader(isContinued: boolean): UpstreamReader {
    return new UpstreamReader(this.#body, isContinued);
  }
}

/** Responses over a WebSocket to a vendor. Source: OpenAI guide, "WebSocket mode". */
export const responsesUpstreamSocket: UpstreamSocket = {
  read(text) {
    const body = createBodyOf(text);
    return body && new CreateRequest(body);
  },
};
