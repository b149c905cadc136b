import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { FaultError } from '../../model/fault.ts';
import type { Headers } from '../../model/protocol.ts';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import { openSocket, type SocketTarget } from '../open-socket.ts';

/** What to open. */
interface WebSocketTarget extends SocketTarget {
  /** Those of the call, without what describes its body. */
  readonly headers: Headers;
  /** The largest message that is read. */
  readonly maxBytes: number;
  readonly clock: SteadyClock;
}

/**
 * The outcome. `refused`: the upgrade failed, so the upstream, or what stands before it, doesn't speak it now. An answer has the status of a refusal that
 * plain HTTP would get as well: of the key, or of a limit. A `FaultError`: the upstream can't be reached at all.
 */
type Handshake = OpenedWebSocket | HandshakeAnswer | FaultError | 'refused';

/** An open WebSocket, and the socket under it, whose bytes show what is under way. */
export interface OpenedWebSocket {
  readonly webSocket: WebSocket;
  readonly socket: Pick<Socket, 'prependListener'>;
}

/** A refusal of the key, or because of a limit. */
export interface HandshakeAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Statuses that say nothing about WebSocket. */
const plainRefusals: ReadonlySet<number> = new Set([401, 429]);

/** How long the answer to the upgrade may take, in milliseconds, unless connections have less. */
const handshakeMs = 10_000;

/** The part of a refusal's body that is read. */
const maxRefusalBytes = 1 << 16;

/** Opens a WebSocket. Calls `opened` once; the returned function cancels at any stage. */
export const openWebSocket = (target: WebSocketTarget, opened: (outcome: Handshake) => void): (() => void) => {
  let cancel = openSocket(target, (outcome) => {
    if (outcome instanceof FaultError) opened(outcome);
    else cancel = upgrade(outcome, target, opened);
  });
  return () => cancel();
};

const upgrade = (
  socket: Socket,
  { url, headers, maxBytes, connectMs, clock }: WebSocketTarget,
  opened: (outcome: Handshake) => void,
): (() => void) => {
  const webSocket = new WebSocket(url, {
    createConnection: () => socket,
    headers,
    maxPayload: maxBytes,
    perMessageDeflate: false,
  });
  let isSettled = false;
  const settle = (outcome?: Handshake) => {
    if (isSettled) return;
    isSettled = true;
    stop();
    if (typeof outcome !== 'object' || !('webSocket' in outcome)) discard();
    if (outcome !== undefined) opened(outcome);
  };
  const discard = () => {
    webSocket.terminate();
    socket.destroy();
  };
  const stop = clock.after(Math.min(connectMs, handshakeMs), () => settle('refused'));
  webSocket
    // Its owner listens too; without any listener, an error of a discarded one would end the process.
    .on('error', () => settle('refused'))
    .once('open', () => settle({ webSocket, socket }))
    .once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0;
      if (plainRefusals.has(status)) readRefusal(response, status, settle);
      else settle('refused');
    });
  return () => settle();
};

const readRefusal = (response: IncomingMessage, status: number, settle: (answer: HandshakeAnswer) => void): void => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
    }
    settle({ status, headers, body: Buffer.concat(pieces) });
  };
  response
    .on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes >= maxRefusalBytes) finish();
    })
    .once('end', finish)
    .once('error', finish);
};
