import type { Socket } from 'node:net';
import { connectTo } from './connect-to.ts';

/** Takes an answer as it arrives. */
export interface Sink {
  readonly head: (status: number) => void;
  /** Bytes of the body; they are overwritten after the call. */
  readonly body: (bytes: Buffer) => void;
  /** The answer is whole, and the connection free. */
  readonly end: () => void;
  readonly fail: (reason: string) => void;
}

const headEnd = Buffer.from('\r\n\r\n');

type State = 'idle' | 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'trailer' | 'until-close';

/**
 * One kept-alive HTTP/1.1 connection with one request at a time, and nothing that a load generator has no use for: it must
 * cost less than what it measures.
 */
export class Connection {
  readonly #socket: Socket;
  #sink: Sink | undefined;
  #state: State = 'idle';
  #left = 0;
  /** The beginning of a head or of a chunk's size that a read has cut. */
  #buffered: Buffer | undefined;
  /** It can't be used again. */
  closed = false;

  constructor(host: string, port: number, isSecure: boolean) {
    this.#socket = connectTo(host, port, (bytes) => this.#read(bytes), isSecure);
    this.#socket.on('error', (error) => this.#broken(error.message));
    this.#socket.on('close', () => {
      if (this.#state === 'until-close') this.#done();
      this.#broken('the connection was closed amid an answer');
    });
  }

  /** Sends one request; its answer goes to `sink`. */
  send(pieces: readonly Buffer[], sink: Sink): void {
    this.#sink = sink;
    this.#state = 'head';
    if (this.closed) {
      this.#broken('the connection was closed');
      return;
    }
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  close(): void {
    this.closed = true;
    this.#sink = undefined;
    this.#socket.destroy();
  }

  #broken(reason: string): void {
    this.closed = true;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.fail(reason);
  }

  #done(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#state = 'idle';
    sink?.end();
  }

  #read(arrived: Buffer): void {
    let bytes = this.#buffered ? Buffer.concat([this.#buffered, arrived]) : arrived;
    this.#buffered = undefined;
    while (bytes.length > 0 && this.#sink) bytes = this.#step(bytes);
  }

  /** Takes one element from the front; gives back the rest. */
  #step(bytes: Buffer): Buffer {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes);
      case 'size':
        return this.#readSize(bytes);
      case 'length':
      case 'chunk': {
        const taken = Math.min(this.#left, bytes.length);
        this.#left -= taken;
        this.#sink?.body(bytes.subarray(0, taken));
        if (this.#left === 0) {
          if (this.#state === 'length') this.#done();
          else {
            this.#state = 'chunk-end';
            this.#left = 2;
          }
        }
        return bytes.subarray(taken);
      }
      case 'chunk-end':
      case 'trailer': {
        const taken = Math.min(this.#left, bytes.length);
        this.#left -= taken;
        if (this.#left === 0) {
          if (this.#state === 'trailer') this.#done();
          else this.#state = 'size';
        }
        return bytes.subarray(taken);
      }
      case 'until-close':
        this.#sink?.body(bytes);
        return bytes.subarray(bytes.length);
      case 'idle':
        this.#broken('bytes came without a request');
        return bytes.subarray(bytes.length);
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf(headEnd);
    if (end < 0) return this.#buffer(bytes);
    const head = bytes.toString('latin1', 0, end).toLowerCase();
    this.#sink?.head(Number(head.slice(9, 12)));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length !== undefined) {
      this.#left = Number(length);
      this.#state = 'length';
      if (this.#left === 0) this.#done();
    } else this.#state = head.includes('\r\ntransfer-encoding: chunked') ? 'size' : 'until-close';
    return bytes.subarray(end + headEnd.length);
  }

  #readSize(bytes: Buffer): Buffer {
    const end = bytes.indexOf(10);
    if (end < 0) return this.#buffer(bytes);
    this.#left = Number.parseInt(bytes.toString('latin1', 0, end), 16);
    if (Number.isNaN(this.#left)) {
      this.#broken('the answer’s chunks are garbled');
      return bytes.subarray(bytes.length);
    }
    this.#state = this.#left === 0 ? 'trailer' : 'chunk';
    if (this.#left === 0) this.#left = 2;
    return bytes.subarray(end + 1);
  }

  #buffer(bytes: Buffer): Buffer {
    this.#buffered = Buffer.from(bytes);
    return bytes.subarray(bytes.length);
  }
}
