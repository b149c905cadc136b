import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../until.ts';

/** A request as the scripted upstream got it. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, parsed; `undefined` when it isn't JSON. */
  readonly body: unknown;
  /** Settles when the connection that brought it is closed. */
  readonly closed: Promise<void>;
}

/** What to answer. An answer without pieces is an empty body. */
export interface UpstreamAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body, piece by piece; a number is a pause in milliseconds. Each piece is written by itself. */
  readonly pieces?: Iterable<Piece> | AsyncIterable<Piece>;
  /**
   * What follows the pieces. `end` (default): the regular end; `stall`: nothing more; `close`: the connection ends in the
   * middle of the answer; `reset`: it is reset.
   */
  readonly finish?: 'end' | 'stall' | 'close' | 'reset';
  /** What `finish` waits for, after the pieces. */
  readonly before?: Promise<void>;
  /** Written to the socket in place of an HTTP answer; `finish` applies, and `end` means that the connection ends. */
  readonly raw?: string | Uint8Array;
}

export type Piece = string | Uint8Array | number;

/** Answers each request; `never` leaves it without an answer, `reset` and `close` end the connection instead. */
export type Script = (request: UpstreamRequest, count: number) => Reaction | Promise<Reaction>;
export type Reaction = UpstreamAnswer | 'never' | 'reset' | 'close';

/** An upstream at work on a loopback port. */
export interface ScriptedUpstream {
  /** `http://127.0.0.1:…`, without a path. */
  readonly url: string;
  readonly port: number;
  /** All requests so far, in the order in which their bodies were complete. */
  readonly requests: readonly UpstreamRequest[];
  /** Connections that are open now. */
  readonly openSockets: number;
  /** Connections there have been. */
  readonly totalSockets: number;
  /** Closes all that is idle now, as a server does that finds its connections too old. */
  readonly closeIdle: () => void;
  readonly close: () => Promise<void>;
}

/** Starts an upstream that does what the script says. */
export const startUpstream = async (script: Script): Promise<ScriptedUpstream> => {
  const requests: UpstreamRequest[] = [];
  const sockets = new Map<Socket, Promise<void>>();
  let totalSockets = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    // Many tests break connections on purpose.
    const closed = sockets.get(incoming.socket) ?? Promise.resolve();
    serve(incoming, response, script, requests, closed).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    totalSockets += 1;
    const closed = new Promise<void>((resolve) => {
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          resolve();
        });
    });
    sockets.set(socket, closed);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get openSockets() {
      return sockets.size;
    },
    get totalSockets() {
      return totalSockets;
    },
    closeIdle: () => server.closeIdleConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets.keys()) socket.destroy();
      }),
  };
};

/** A JSON answer. */
export const jsonAnswer = (value: unknown, status = 200): UpstreamAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify(value)],
});

/** A streamed answer. */
export const sseAnswer = (
  pieces: NonNullable<UpstreamAnswer['pieces']>,
  finish: NonNullable<UpstreamAnswer['finish']> = 'end',
): UpstreamAnswer => ({ headers: { 'content-type': 'text/event-stream; charset=utf-8' }, pieces, finish });

/** A recorded answer (`anthropic/text-short.sse`) with its status and headers, in pieces of so many bytes. */
export const recordedAnswer = async (file: string, pieceBytes = Number.POSITIVE_INFINITY): Promise<UpstreamAnswer> => {
  const fixtures = new URL('../../fixtures/', import.meta.url);
  // The index is part of the repository; the fixtures' README describes its form.
  const index: readonly Recorded[] = JSON.parse(await readFile(new URL('index.json', fixtures), 'utf8'));
  const entry = index.find((row) => row.file === file);
  if (!entry) throw new Error(`${file} is no recorded answer`);
  const bytes = await readFile(new URL(file, fixtures));
  return {
    status: entry.status,
    headers: { 'content-type': entry.content_type, ...entry.headers },
    pieces: slices(bytes, pieceBytes),
  };
};

interface Recorded {
  readonly file: string;
  readonly status: number;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
}

const slices = function* (bytes: Uint8Array, pieceBytes: number): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
};

const listen = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      // A TCP server's address is always of this kind; `string` is for pipes.
      resolve((server.address() as AddressInfo).port);
    });
  });

const serve = async (
  incoming: IncomingMessage,
  response: ServerResponse,
  script: Script,
  requests: UpstreamRequest[],
  closed: Promise<void>,
): Promise<void> => {
  const { socket } = incoming;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { method = '', url = '', headers } = incoming;
  const request = { method, url, headers, text, body: parse(text), closed };
  requests.push(request);
  const reaction = await script(request, requests.length);
  if (reaction === 'never') return;
  if (reaction === 'reset') socket.resetAndDestroy();
  else if (reaction === 'close') socket.destroy();
  else await answer(reaction, response, socket, closed);
};

const answer = async (
  { status = 200, headers = {}, pieces = [], finish = 'end', before, raw }: UpstreamAnswer,
  response: ServerResponse,
  socket: Socket,
  closed: Promise<void>,
): Promise<void> => {
  if (raw === undefined) {
    response.writeHead(
      status,
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plain(value)])),
    );
    response.flushHeaders();
    for await (const piece of pieces) {
      if (socket.destroyed) return;
      if (typeof piece === 'number') await Promise.race([wait(piece), closed]);
      else if (!response.write(piece)) await Promise.race([drained(response), closed]);
    }
  } else {
    socket.write(raw);
  }
  await before;
  switch (finish) {
    case 'end':
      if (raw === undefined) response.end();
      else socket.end();
      break;
    case 'close':
      await flushed(socket);
      socket.destroy();
      break;
    case 'reset':
      await flushed(socket);
      socket.resetAndDestroy();
      break;
    case 'stall':
      break;
  }
};

const plain = (value: string | readonly string[]): string | string[] =>
  typeof value === 'string' ? value : [...value];

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => response.once('drain', () => resolve()));

/** What the other side's kernel takes in any case while that side doesn't read, in bytes. */
const alwaysTaken = 32_768;

/** All that was written has left, and the other side has had time to read it: a reset overtakes what is unread. */
const flushed = async (socket: Socket): Promise<void> => {
  await new Promise<void>((resolve) => socket.write('', () => resolve()));
  if (process.platform === 'linux' && socket.bytesWritten > alwaysTaken) {
    await until(() => socket.destroyed || unreadOf(socket) === 0);
  }
  await wait(20);
};

/** Bytes of a loopback connection that either side's kernel still has of what this side wrote. Source: Linux's proc_net_tcp. */
const unreadOf = ({ localPort = 0, remotePort = 0 }: Socket): number => {
  const [own, other] = [localPort, remotePort].map(
    (port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .reduce((sum, line) => {
      const [, local, remote, , queues = ''] = line.trim().split(/\s+/);
      const [sent = 0, received = 0] = queues.split(':').map((bytes) => Number.parseInt(bytes, 16));
      if (local === own && remote === other) return sum + sent;
      return local === other && remote === own ? sum + received : sum;
    }, 0);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
