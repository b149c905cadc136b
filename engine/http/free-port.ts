import { createServer } from 'node:net';

/** A port that nobody has open at an address at this moment. 0 when there is none to be had, or no such address. */
export const freePort = (host: string): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(0));
    server.listen({ host, port: 0, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
