import { createServer } from 'node:net';

/** One line that says why a port couldn't be opened. The native listener doesn't tell, so the attempt is repeated in Node. */
export const listenFailure = async (host: string, port: number): Promise<string> =>
  word(host, port, (await attempt(host, port)) ?? 'EADDRINUSE');

/**
 * One line that says why a port can't be opened for oneself alone; `undefined` when it can. A port that is to be shared must be
 * tried this way first: the native listener would open it beside anybody who shares it too.
 */
export const listenFault = async (host: string, port: number): Promise<string | undefined> => {
  const code = await attempt(host, port);
  return code && word(host, port, code);
};

const word = (host: string, port: number, code: string): string => {
  const place = `port ${port} on ${host}`;
  if (code === 'EADDRINUSE') {
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
