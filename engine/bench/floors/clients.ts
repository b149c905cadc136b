import { Client } from 'undici';

/** Connections to the provider, one request at a time on each; what undici's own pool does, without its choices. */
export class Clients {
  readonly #origin: string;
  readonly #free: Client[] = [];

  constructor(origin: string) {
    this.#origin = origin;
  }

  take(): Client {
    return this.#free.pop() ?? new Client(this.#origin, { pipelining: 1 });
  }

  give(client: Client): void {
    this.#free.push(client);
  }
}
