import { spawn } from 'node:child_process';

/** Opens an address in the user's browser, with the program that the system has for it; calls `failed` when there is none. */
export const openBrowser = (url: string, failed: () => void): void => {
  const [program, args] = opener(process.platform, url);
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.once('error', failed);
  child.unref();
};

/** The command that opens an address. It goes without a shell, so that nothing in the address is anything but an address. */
export const opener = (platform: string, url: string): readonly [program: string, args: readonly string[]] => {
  if (platform === 'darwin') return ['open', [url]];
  return platform === 'win32' ? ['rundll32', ['url.dll,FileProtocolHandler', url]] : ['xdg-open', [url]];
};
