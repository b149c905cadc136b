import type { ChosenServer } from '../../http/choose-server.ts';
import type { Uws, UwsApp, UwsRequest, UwsResponse } from '../../http/uws/uws.ts';
import { UwsServer } from '../../http/uws/uws-server.ts';

/** A request as a client sends it. */
export interface SentRequest {
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** An answer as a client has it. */
export interface TakenAnswer {
  readonly status: number;
  readonly chunks: readonly Buffer[];
}

type Handler = (res: UwsResponse, req: UwsRequest) => void;

/** uWebSockets.js without a network: requests are handed to the service by calls, and their answers taken from it. */
export class SimulatedServer {
  #handler: Handler = () => {
    throw new Error('The service doesn’t listen yet.');
  };

  /** For `start`. */
  readonly chosen: ChosenServer = {
    facts: { server: 'uws', reason: 'simulated' },
    warning: undefined,
    load: async () => (events) => new UwsServer(this.#uws, events),
  };

  readonly #uws: Uws = {
    App: () => this.#app,
    us_listen_socket_close: () => {},
    us_socket_local_port: () => 1,
    LIBUS_LISTEN_EXCLUSIVE_PORT: 1,
  };

  readonly #app: UwsApp = {
    ws: () => this.#app,
    filter: () => this.#app,
    any: (_pattern, handler) => {
      this.#handler = handler;
      return this.#app;
    },
    listen: (_host, _port, _options, done) => {
      done({});
      return this.#app;
    },
    close: () => {},
  };

  /** Hands one request over. `ended` is called once; the answer's chunks are only there if `keep` is set. */
  send(request: SentRequest, keep: boolean, ended: (answer: TakenAnswer) => void): void {
    const response = new SimulatedResponse(keep, ended);
    this.#handler(response, new SimulatedRequest(request));
    response.deliver(request.body);
  }
}

class SimulatedRequest implements UwsRequest {
  readonly #request: SentRequest;

  constructor(request: SentRequest) {
    this.#request = request;
  }

  getCaseSensitiveMethod(): string {
    return 'POST';
  }

  getUrl(): string {
    return this.#request.path;
  }

  getQuery(): string {
    return '';
  }

  forEach(take: (name: string, value: string) => void): void {
    const { headers } = this.#request;
    for (let at = 0; at < headers.length; at += 2) take(headers[at] ?? '', headers[at + 1] ?? '');
  }
}

type Written = Parameters<UwsResponse['write']>[0];

class SimulatedResponse implements UwsResponse {
  readonly #ended: (answer: TakenAnswer) => void;
  readonly #chunks: Buffer[] | undefined;
  #status = 200;
  #take: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;

  constructor(keep: boolean, ended: (answer: TakenAnswer) => void) {
    this.#ended = ended;
    this.#chunks = keep ? [] : undefined;
  }

  /** A copy of its own, as the library reads it from the socket. */
  deliver(body: Buffer): void {
    const copy = new ArrayBuffer(body.length);
    new Uint8Array(copy).set(body);
    this.#take?.(copy, true);
  }

  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#take = take;
  }

  writeStatus(status: Written): void {
    this.#status = Number(String(status).slice(0, 3));
  }

  write(chunk: Written): boolean {
    this.#chunks?.push(bytesOf(chunk));
    return true;
  }

  tryEnd(body: Written): [boolean, boolean] {
    this.end(body);
    return [true, true];
  }

  end(body?: Written): void {
    if (body !== undefined) this.#chunks?.push(bytesOf(body));
    this.#ended({ status: this.#status, chunks: this.#chunks ?? [] });
  }

  endWithoutBody(): void {
    this.end();
  }

  /** The service has broken the connection off. */
  close(): void {
    this.#ended({ status: 0, chunks: [] });
  }

  cork(act: () => void): void {
    act();
  }

  getRemoteAddress(): ArrayBuffer {
    return loopback.slice(0);
  }

  getProxiedRemoteAddress(): ArrayBuffer {
    return none;
  }

  getWriteOffset(): number {
    return 0;
  }

  writeHeader(): void {}
  onAborted(): void {}
  onWritable(): void {}
  pause(): void {}
  resume(): void {}
  upgrade(): void {}
}

const loopback = new Uint8Array([127, 0, 0, 1]).buffer;
const none = new ArrayBuffer(0);

const bytesOf = (written: Written): Buffer => {
  if (typeof written === 'string') return Buffer.from(written);
  const view = ArrayBuffer.isView(written)
    ? new Uint8Array(written.buffer, written.byteOffset, written.byteLength)
    : new Uint8Array(written);
  return Buffer.from(view);
};
