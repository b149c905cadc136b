import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { Headers } from '../model/protocol.ts';
import type { StreamStage } from './rx/stages.ts';

/**
 * Shows a client its limits in every answer, errors too, by the headers of its protocol. The provider's headers about its own
 * limits are removed: they are those of an account that many clients share.
 */
export const showLimits = (): StreamStage<Exchange, ReplyPart, ReplyPart> => (exchange) => {
  const { client, namedClient } = exchange;
  return {
    next(part) {
      if (part.type === 'data' || !namedClient) return part;
      return { ...part, headers: { ...withoutLimits(part.headers), ...client.limitHeaders(namedClient.rates) } };
    },
  };
};

const withoutLimits = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.includes('-ratelimit-')));
