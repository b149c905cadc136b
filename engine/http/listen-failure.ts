import { createServer } from 'node:net';

/** One line that says why a port couldn't be opened. The native listener doesn't tell, so the attempt is repeated in Node. */
export const listenFailure = async (host: string, port: number): Promise<string> => {
  const code = await attempt(host, port);
  const place = `port ${port} on ${host}`;
  if (code === 'EADDRINUSE' || code === undefined) {
    return `Can't listen: ${place} is in use. Stop the program that has it, or configure another PORT.`;
  }
  if (code === 'EACCES') return `Can't listen: ${place} may not be used by this user.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `Can't listen: ${host} is no address of this machine. Check HOST in the configuration.`;
  }
  return `Can't listen: ${place} can't be opened (${code}).`;
};

/** The error's code; `undefined` when the port could be opened after all. */
const attempt = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
