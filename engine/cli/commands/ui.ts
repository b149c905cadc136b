import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshBuild } from '../../launch/stale-build.js';
import { root } from '../../paths.ts';
import type { Cli } from '../cli.ts';
import { reachService } from '../reach-service.ts';

/** `junctor ui`: opens the web interface in the browser; with `print`, only prints its URL. */
export const openUi = async (cli: Cli, { print = false }: { readonly print?: boolean }): Promise<void> => {
  const { baseUrl } = await reachService(cli);
  const url = `${baseUrl}/ui`;
  cli.print(url);
  if (print || !hasDisplay(cli.env)) return;
  openBrowser(url, () => cli.warn('Could not open a browser; open the URL above.'));
};

/** Whether a browser opened here would be visible: not over SSH, nor on Linux without a display. */
const hasDisplay = (env: Cli['env']): boolean => {
  if (env.SSH_CONNECTION) return false;
  return process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
};

/** Opens a URL in the default browser; calls `onFailure` if the platform's opener can't be started. */
const openBrowser = (url: string, onFailure: () => void): void => {
  const [program, args] = opener(process.platform, url);
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.once('error', onFailure);
  child.unref();
};

/** The platform's command to open a URL. Runs without a shell, so that the URL is never interpreted. */
export const opener = (platform: string, url: string): readonly [program: string, args: readonly string[]] => {
  if (platform === 'darwin') return ['open', [url]];
  return platform === 'win32' ? ['rundll32', ['url.dll,FileProtocolHandler', url]] : ['xdg-open', [url]];
};

/**
 * Builds the web interface in a separate process if it is missing or outdated by the record that `ui/build.js` keeps. Does
 * nothing in an installation without the UI's sources.
 */
export const buildUi = (): void => {
  const folder = fileURLToPath(root);
  const script = join(folder, 'ui/build.js');
  if (!existsSync(script) || freshBuild(join(folder, 'ui/dist/.sources'), folder, 'ui') !== undefined) return;
  spawn(process.execPath, [script, '--optional', '--gently'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    windowsHide: true,
  }).unref();
};
