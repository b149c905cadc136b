import { connect, type Socket } from 'node:net';

/** A client on a raw socket: it may read slowly or not at all, send in pieces, or disconnect. */
export interface RawClient {
  readonly socket: Socket;
  /** All that has been read so far, head included. */
  readonly text: () => string;
  readonly bytesRead: () => number;
  /** Resolves once this has been read; rejects when the connection ends without it. */
  readonly says: (words: string) => Promise<void>;
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<void>;
  /** Disconnects immediately. */
  readonly leave: () => void;
}

/** How a client reads: as fast as it can, at so many bytes a second, or never. */
type Appetite = 'all' | 'nothing' | number;

const ticksPerSecond = 4;

/** Sends a POST and reads the response at this rate. */
export const rawPost = (baseUrl: string, path: string, body: object, appetite: Appetite = 'all'): RawClient => {
  const { hostname, port, host } = new URL(baseUrl);
  const payload = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(payload)}`,
  ];
  return rawClient(hostname, Number(port), `${head.join('\r\n')}\r\n\r\n${payload}`, appetite);
};

/** Sends this text unchanged, however malformed. */
const rawClient = (host: string, port: number, words: string, appetite: Appetite = 'all'): RawClient => {
  let text = '';
  let bytesRead = 0;
  const watchers = new Set<() => void>();
  const socket = connect(port, host);
  const take = (piece: Buffer | null): void => {
    if (!piece) return;
    bytesRead += piece.length;
    // A slow reader's response is endless, and its content is ignored.
    if (appetite === 'all') text += piece.toString('latin1');
    for (const look of watchers) look();
  };
  if (appetite === 'all') socket.on('data', take);
  else socket.pause();
  const timer =
    typeof appetite === 'number'
      ? setInterval(
          () => take(socket.read(Math.ceil(appetite / ticksPerSecond)) ?? socket.read()),
          1000 / ticksPerSecond,
        )
      : undefined;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      clearInterval(timer);
      for (const look of watchers) look();
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.write(words);
  return {
    socket,
    text: () => text,
    bytesRead: () => bytesRead,
    says: (expected) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (text.includes(expected)) resolve();
          else if (socket.destroyed) reject(new Error(`ended without saying ${expected}: ${text.slice(-500)}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
    closed,
    leave: () => socket.resetAndDestroy(),
  };
};
