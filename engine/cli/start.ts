import { resolve } from 'node:path';
import { buildUi } from './build-ui.ts';
import type { Cli } from './cli.ts';
import { startDaemon } from './start-daemon.ts';

/** `switchyard start`: runs the service here until a signal ends it, or in the background. */
export const start = async (
  cli: Cli,
  {
    daemon = false,
    allowTransformerPath = [],
  }: { readonly daemon?: boolean; readonly allowTransformerPath?: readonly string[] },
): Promise<void> => {
  const transformerFolders = allowTransformerPath.map((folder) => resolve(folder));
  if (daemon) return startDaemon(cli, transformerFolders);
  const { main } = await import('../main.ts');
  await main({
    env: cli.env,
    home: cli.home,
    transformerFolders,
    report: cli.tell,
    greet: (text) => cli.say(text.trimEnd()),
  });
  buildUi();
};
