import type { HeaderList } from './endpoint.ts';

/** A server library as the listener uses it: what an adapter implements. */
export interface HttpServer {
  /**
   * Opens a port at an address and resolves to it; `undefined`: it can't be opened. Port 0 picks a free one. `shared`: other
   * processes may open it too.
   */
  readonly listen: (host: string, port: number, shared: boolean) => Promise<number | undefined>;
  /** Stops accepting connections; open ones stay. */
  readonly stopAccepting: () => void;
  /** Closes all connections at once, and stops accepting. */
  readonly close: () => void;
}

/** Callbacks of a server. */
export interface HttpServerEvents {
  /** A connection has opened; `false`: it is closed at once. */
  readonly opened: (remoteAddress: string) => boolean;
  /** A connection has closed. */
  readonly closed: () => void;
  /** Bytes from which on a message closes its WebSocket connection at once. Read when the server is created. */
  readonly maxMessageBytes: number;
  /** A request's head has arrived. Its body and end are reported to those who ask for them during this call. */
  readonly requested: (stream: HttpStream) => void;
}

/** One request and its answer on a connection. Must not be used after the answer's end or the abort. */
export interface HttpStream {
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  readonly headers: HeaderList;
  readonly remoteAddress: string;
  /** The client's address by the PROXY protocol; empty without it. Must be called while the server's handler runs. */
  readonly proxiedAddress: () => string;
  /** Calls `aborted` when the connection closes before the answer's end, on either side. */
  readonly onAborted: (aborted: () => void) => void;
  /** Reads the request's body. */
  readonly read: (consumer: BodyConsumer) => void;
  /** Resets the library's own timeouts, which are stricter than ours. */
  readonly keepOpen: () => void;
  /** Sends what `act` writes in as few packets as possible. */
  readonly cork: (act: () => void) => void;
  /** Begins the answer. Values are Latin-1. */
  readonly writeHead: (status: number, headers: HeaderList) => void;
  /** Sends a piece of a chunked body. `false`: the client's socket is full, and `writer` is notified when it no longer is. */
  readonly write: (data: string | Uint8Array, writer: StreamWriter) => boolean;
  /** Ends a chunked body. */
  readonly end: () => void;
  /** Sends a whole body with its length and ends; `close`: closes the connection then. */
  readonly endWith: (body: string | Uint8Array, close: boolean) => void;
  /** Ends an answer that has no body. */
  readonly endWithoutBody: () => void;
  /** Sends a large whole body as the client reads it. `false`: it isn't complete, and `writer` is notified of the progress. */
  readonly send: (body: Uint8Array, writer: StreamWriter) => boolean;
  /** Closes the connection at once. */
  readonly close: () => void;
  /**
   * Accepts a WebSocket handshake, in place of an answer; `undefined`: the request is none. May be called later, but not after an
   * abort. `open` is called during it.
   */
  readonly upgrade?: ((open: (socket: MessageStream) => MessageEvents) => void) | undefined;
}

/** A WebSocket connection. Must not be used after its end. */
export interface MessageStream {
  /** Sends a text message. `false`: the client's socket is full, which `writable` ends. The message is sent in any case. */
  readonly send: (text: string | Uint8Array) => boolean;
  /** Whether `received` is called; otherwise, what is under way can't be seen. */
  readonly countsBytes: boolean;
  /** Bytes that the client's socket hasn't taken yet. */
  readonly bufferedBytes: () => number;
  /** Sends what `act` sends in as few packets as possible. */
  readonly cork: (act: () => void) => void;
  readonly ping: () => void;
  /** Sends a close frame after what was sent before, and closes the connection. */
  readonly close: (code: number, reason: string) => void;
  /** Closes the connection at once. */
  readonly terminate: () => void;
}

/** Callbacks of a WebSocket connection. */
export interface MessageEvents {
  /** The bytes are valid during the call alone. */
  readonly message: (bytes: Uint8Array, isBinary: boolean) => void;
  /** So many bytes have come; before the events of what they complete. Negative: those of pings and pongs, afterwards. */
  readonly received: (bytes: number) => void;
  /** The client answers a ping. */
  readonly alive: () => void;
  /** The client pings with so many bytes of content, which the library answers. */
  readonly pinged: (bytes: number) => void;
  /** The client's socket takes data again. */
  readonly writable: () => void;
  /** The connection is closed, by either side. */
  readonly closed: () => void;
}

/** Consumes a request's body. */
export interface BodyConsumer {
  /** The chunk is valid during the call alone. */
  readonly take: (chunk: Uint8Array, isLast: boolean) => void;
  /** The server can't find the body's end. `why` is for the client. */
  readonly lost: (why: string) => void;
}

/** Notified when a client reads on after its socket was full. */
export interface StreamWriter {
  /** `complete`: a body of `send` is fully flushed; for `write` always `false`. Runs corked for `write`. */
  readonly writable: (complete: boolean) => void;
}
