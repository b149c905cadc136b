import type { Cli } from './cli.ts';
import { locateRunning } from './locate.ts';
import { openBrowser } from './open-browser.ts';

/** `switchyard ui`: opens the web interface in the browser, or says where it is. */
export const openUi = async (cli: Cli, { print = false }: { readonly print?: boolean }): Promise<void> => {
  const { baseUrl } = await locateRunning(cli);
  const url = `${baseUrl}/ui`;
  cli.say(url);
  if (print || !hasDisplay(cli.env)) return;
  openBrowser(url, () => cli.tell('No browser could be opened; open the address above.'));
};

/** On Linux without a display, or from another machine's terminal, a browser would open for nobody. */
const hasDisplay = (env: Cli['env']): boolean => {
  if (env.SSH_CONNECTION) return false;
  return process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
};
