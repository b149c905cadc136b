import type { Socket } from 'node:net';

/**
 * Keeps the other side's end of a socket from undici for as long as the body that the socket carries is held back. undici
 * 7.30.2 can't take it then: depending on the answer's head it either throws from the socket's own event, which nobody
 * could catch, or takes a complete answer for a cut one. The socket must allow to be half open.
 * Source: nodejs/undici, issue 5360.
 */
export class EndGate {
  readonly #socket: Socket;
  readonly #emit: Socket['emit'];
  #held = false;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#emit = socket.emit;
    socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
      if (event === 'end') return this.#end();
      return Reflect.apply(this.#emit, socket, [event, ...values]);
    };
  }

  hold(): void {
    this.#held = true;
  }

  /** Runs `resume`, which makes undici read on; an end that was kept back follows, unless the body is held back again. */
  release(resume: () => void): void {
    this.#held = false;
    resume();
    if (this.#ended) this.#end();
  }

  #end(): boolean {
    this.#ended = true;
    if (this.#held || this.#socket.destroyed) return true;
    this.#ended = false;
    Reflect.apply(this.#emit, this.#socket, ['end']);
    this.#socket.end();
    return true;
  }
}
