import type { ExecutionContext } from 'ava';
import WebSocket from 'ws';

/** A message of the gateway. */
export interface Frame {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** A client of a WebSocket connection. */
export interface SocketClient {
  readonly socket: WebSocket;
  /** Sends a message: an object as JSON, anything else as it is. */
  readonly send: (message: object | string | Buffer) => void;
  /** All messages so far, as text. */
  readonly texts: readonly string[];
  /** The next message that wasn't taken yet; rejects when the connection ends without one. */
  readonly next: () => Promise<Frame>;
  /** The messages up to the end of the next answer, or up to an error outside of one. */
  readonly answer: () => Promise<readonly Frame[]>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

const ends: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Opens a connection at a path of a gateway (`http://…`). `offers`: subprotocols. The test's end closes it. */
export const openSocket = async (
  t: Pick<ExecutionContext, 'teardown'>,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  offers: string[] = [],
): Promise<SocketClient> => {
  const socket = new WebSocket(url.replace('http:', 'ws:'), offers, { headers });
  t.teardown(() => socket.terminate());
  const texts: string[] = [];
  let taken = 0;
  let told: () => void = () => undefined;
  let isClosed = false;
  socket.on('message', (data, isBinary) => {
    texts.push(isBinary ? '{"type":"binary"}' : String(data));
    told();
  });
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      isClosed = true;
      told();
      resolve({ code, reason: reason.toString() });
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
    socket.on('unexpected-response', (_, response) => {
      response.resume();
      reject(new Error(`status ${response.statusCode}`));
    });
  });
  const next = async (): Promise<Frame> => {
    while (texts.length === taken) {
      if (isClosed) throw new Error('the connection ended');
      await new Promise<void>((resolve) => {
        told = resolve;
      });
    }
    taken += 1;
    const frame: Frame = JSON.parse(texts[taken - 1] ?? '');
    return frame;
  };
  return {
    socket,
    texts,
    next,
    closed,
    send: (message) =>
      socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    async answer() {
      const frames: Frame[] = [];
      for (;;) {
        const frame = await next();
        frames.push(frame);
        if (ends.has(frame.type) || (frame.type === 'error' && 'status' in frame)) return frames;
      }
    },
  };
};
