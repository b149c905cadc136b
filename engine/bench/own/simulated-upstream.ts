import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { HttpClient, OpenClient } from '../../upstream/connection.ts';

/** A call that waits for its answer. */
export interface Call {
  readonly path: string;
  readonly body: unknown;
  readonly handler: Dispatcher.DispatchHandler;
}

/** undici without a network: calls are taken from the service, and answered by calls of its handlers. */
export class SimulatedUpstream {
  #waiting: Call[] = [];

  /** For `start`. Each client opens its socket as undici does, and leaves it idle. */
  readonly openClient: OpenClient = (origin, { connect }) => {
    let opened: Promise<void> | undefined;
    const { protocol, hostname, port } = new URL(origin);
    const open = (): Promise<void> =>
      new Promise((resolve, reject) => {
        if (typeof connect !== 'function') reject(new Error('The service opens no socket.'));
        else connect({ protocol, hostname, port }, (...[error]) => (error ? reject(error) : resolve()));
      });
    return {
      dispatch: ({ path, body }, handler) => {
        // undici makes bytes of a text at once.
        const call = { path, body: typeof body === 'string' ? Buffer.from(body) : body, handler };
        if (opened) this.#waiting.push(call);
        else {
          opened = open();
          opened.then(
            () => this.#waiting.push(call),
            (error) => handler.onError?.(error),
          );
        }
        return true;
      },
      destroy: async () => {},
    } satisfies HttpClient;
  };

  /** All that have come since. Their bodies are read, as by a socket. */
  take(): readonly Call[] {
    const taken = this.#waiting;
    if (taken.length > 0) this.#waiting = [];
    for (const { body, handler } of taken) {
      if (body instanceof Readable) body.resume();
      handler.onConnect?.(nothing);
    }
    return taken;
  }
}

/** Sends the head of an answer. */
export const sendHead = ({ handler }: Call, headers: readonly Buffer[]): void => {
  handler.onHeaders?.(200, headers.map(copied), nothing, 'OK');
};

/** Sends bytes of a body: a copy of their own, as from a socket. */
export const sendData = ({ handler }: Call, bytes: Buffer): void => {
  handler.onData?.(copied(bytes));
};

/** Ends an answer. */
export const sendEnd = ({ handler }: Call): void => {
  handler.onComplete?.([]);
};

const copied = (bytes: Buffer): Buffer => Buffer.from(bytes);
const nothing = (): void => {};
