import type { Socket } from 'node:net';

/**
 * Withholds the peer's end of a socket from undici while the body is paused. undici 7.30.2 can't handle an end then: depending
 * on the answer's head it throws from the socket's event, which can't be caught, or treats a complete answer as cut. The socket
 * must have `allowHalfOpen`. Source: nodejs/undici, issue 5360.
 */
export class EndGate {
  readonly #socket: Socket;
  readonly #emit: (event: string | symbol, ...values: unknown[]) => boolean;
  #held = false;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#emit = socket.emit;
    socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
      if (event === 'end') return this.#end();
      return this.#emit.call(socket, event, ...values);
    };
  }

  hold(): void {
    this.#held = true;
  }

  /** Runs `resume`, which makes undici read on, then emits a withheld end, unless the body is paused again. */
  release(resume: () => void): void {
    this.#held = false;
    resume();
    if (this.#ended) this.#end();
  }

  #end(): boolean {
    this.#ended = true;
    if (this.#held || this.#socket.destroyed) return true;
    this.#ended = false;
    this.#emit.call(this.#socket, 'end');
    this.#socket.end();
    return true;
  }
}
