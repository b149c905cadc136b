import type { HttpServer, HttpServerEvents } from './stream.ts';
import { loadUws, UwsUnavailable } from './uws/uws.ts';

/** The server library in use, and the reason. */
export interface HttpServerFacts {
  readonly server: 'uws' | 'node';
  readonly reason: string;
}

/** The server library that serves. */
export interface ChosenServer {
  readonly facts: HttpServerFacts;
  /** A one-line warning for the operator. */
  readonly warning: string | undefined;
  /** Loads the library's adapter. */
  readonly load: () => Promise<(events: HttpServerEvents) => HttpServer>;
}

/** The reason of who asked for `node:http`. */
export const askedNode = 'JUNCTOR_HTTP=node';

/**
 * Chooses uWebSockets.js where one of its builds can run, else `node:http`. `wanted`: `uws` or `node`; empty: either. Throws a
 * one-line error for another value, where `uws` can't run, and where its native build isn't the recorded one.
 */
export const chooseServer = (wanted = process.env.JUNCTOR_HTTP ?? '', load = loadUws): ChosenServer => {
  if (wanted === 'node') return nodeServer(askedNode);
  if (wanted !== '' && wanted !== 'uws') {
    throw new Error(`JUNCTOR_HTTP=${wanted} is unknown: set it to "uws" or "node", or leave it unset.`);
  }
  try {
    const { uws, version, warning } = load();
    const reason = wanted === 'uws' ? 'JUNCTOR_HTTP=uws' : `uWebSockets.js ${version} runs here`;
    return {
      facts: { server: 'uws', reason },
      warning,
      async load() {
        const { UwsServer } = await import('./uws/uws-server.ts');
        return (events) => new UwsServer(uws, events);
      },
    };
  } catch (error) {
    if (!(error instanceof UwsUnavailable)) throw error;
    if (wanted === 'uws') {
      throw new Error(`JUNCTOR_HTTP=uws is not possible. ${error.message} Without it, node:http serves.`, {
        cause: error,
      });
    }
    return nodeServer(error.isFixable ? error.message : error.reason);
  }
};

const nodeServer = (reason: string): ChosenServer => ({
  facts: { server: 'node', reason },
  warning: undefined,
  async load() {
    const { NodeServer } = await import('./node/node-server.ts');
    return (events) => new NodeServer(events);
  },
});
