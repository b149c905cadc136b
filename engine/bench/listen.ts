import { createServer, type ServerResponse } from 'node:http';
import { chooseServer } from '../http/choose-server.ts';
import { loadUws, type UwsBehavior, type UwsResponse } from '../http/uws/uws.ts';

/** An answer that is written on the stack that the gateway, too, runs on here: uWebSockets.js, or `node:http` where that can't run. */
export interface Outgoing {
  /** It has ended, or the client left. */
  readonly isOver: boolean;
  readonly onGone: (listener: () => void) => void;
  readonly head: (status: number, type: string) => void;
  /** `false`: the client reads too slowly; `onWritable` tells when to go on. */
  readonly write: (data: Buffer | string) => boolean;
  readonly end: (data?: Buffer | string) => void;
  readonly onWritable: (go: () => void) => void;
  /** Breaks the connection off. */
  readonly close: () => void;
  /** What `work` writes reaches the network together. */
  readonly together: (work: () => void) => void;
}

/** Answers a request: its path with the query, and its whole body. */
type Answering = (path: string, body: Buffer, out: Outgoing) => void;

/** The server that the gateway chooses here. */
export const serverName = (): string => {
  const { facts } = chooseServer();
  return facts.server === 'uws' ? 'uWebSockets.js' : 'node:http';
};

/** Listens on a free port of the loopback address; resolves to the port. `sockets`: serves WebSocket, with uWebSockets.js alone. */
export const listen = async <D>(answer: Answering, sockets?: UwsBehavior<D>): Promise<number> =>
  chooseServer().facts.server === 'uws' ? listenUws(answer, sockets) : listenNode(answer);

const listenUws = <D>(answer: Answering, sockets: UwsBehavior<D> | undefined): Promise<number> =>
  new Promise((resolve) => {
    const { uws } = loadUws();
    const app = uws.App();
    if (sockets) app.ws('/*', sockets);
    app
      .any('/*', (res, req) => {
        const query = req.getQuery();
        const path = query ? `${req.getUrl()}?${query}` : req.getUrl();
        const out = new UwsOutgoing(res);
        const chunks: Buffer[] = [];
        res.onData((chunk, last) => {
          chunks.push(Buffer.from(chunk.slice(0)));
          if (!last || out.isOver) return;
          const [first = Buffer.alloc(0)] = chunks;
          answer(path, chunks.length === 1 ? first : Buffer.concat(chunks), out);
        });
      })
      .listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) =>
        resolve(socket ? uws.us_socket_local_port(socket) : 0),
      );
  });

class UwsOutgoing implements Outgoing {
  readonly #res: UwsResponse;
  #gone: (() => void) | undefined;
  isOver = false;

  constructor(res: UwsResponse) {
    this.#res = res;
    res.onAborted(() => {
      this.isOver = true;
      this.#gone?.();
    });
  }

  onGone(listener: () => void): void {
    this.#gone = listener;
  }

  head(status: number, type: string): void {
    if (status !== 200) this.#res.writeStatus(String(status));
    this.#res.writeHeader('content-type', type);
  }

  write(data: Buffer | string): boolean {
    return this.#res.write(data);
  }

  end(data: Buffer | string = ''): void {
    this.isOver = true;
    this.#res.end(data);
  }

  onWritable(go: () => void): void {
    this.#res.onWritable(() => {
      go();
      return true;
    });
  }

  close(): void {
    this.isOver = true;
    this.#res.close();
  }

  together(work: () => void): void {
    this.#res.cork(work);
  }
}

const listenNode = (answer: Answering): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      const out = new NodeOutgoing(response);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (!out.isOver) answer(request.url ?? '/', Buffer.concat(chunks), out);
      });
    });
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1', () => {
      const place = server.address();
      resolve(typeof place === 'object' ? (place?.port ?? 0) : 0);
    });
  });

class NodeOutgoing implements Outgoing {
  readonly #response: ServerResponse;
  #gone: (() => void) | undefined;
  isOver = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('error', () => undefined);
    response.once('close', () => {
      if (this.isOver) return;
      this.isOver = true;
      this.#gone?.();
    });
  }

  onGone(listener: () => void): void {
    this.#gone = listener;
  }

  head(status: number, type: string): void {
    this.#response.writeHead(status, { 'content-type': type });
  }

  write(data: Buffer | string): boolean {
    return this.#response.write(data);
  }

  end(data: Buffer | string = ''): void {
    this.isOver = true;
    this.#response.end(data);
  }

  onWritable(go: () => void): void {
    this.#response.once('drain', go);
  }

  close(): void {
    this.isOver = true;
    this.#response.destroy();
  }

  together(work: () => void): void {
    work();
  }
}
