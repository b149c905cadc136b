import type { Exchange } from '../exchange.ts';
import type { ReplyPart } from '../http/endpoint.ts';
import type { StreamStage } from './rx/stages.ts';

/** Reports what the client gets: the parts, the first byte of the answer, and the final status. Must be the last stage. */
export const observeReply =
  (): StreamStage<Exchange, ReplyPart, ReplyPart> =>
  ({ observer, progress }) => {
    let sent = 500;
    let status = clientClosed;
    return {
      next(part) {
        observer.part(part);
        if (part.type === 'data') {
          observer.opened();
          if (progress.begun) observer.firstByte();
        } else if (part.type === 'head') sent = part.status;
        else {
          // Set now: the subscriber may unsubscribe as soon as it has a whole reply.
          status = sent = part.status;
          observer.firstByte();
        }
        return part;
      },
      end() {
        status = sent;
        return undefined;
      },
      failed(error) {
        status = 500;
        throw error;
      },
      over: () => observer.finished(status),
    };
  };

/** The status of a request whose client closed the connection before the answer was complete. */
const clientClosed = 499;
