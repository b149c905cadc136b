import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { root } from '../places.ts';

/**
 * Has the web interface built when it is missing or was made from other sources than are here; by a process of its own, so that
 * nobody waits for it. Where only the built files are, nothing is done.
 */
export const buildUi = (): void => {
  const script = fileURLToPath(new URL('ui/build.js', root));
  if (!existsSync(script)) return;
  spawn(process.execPath, [script, '--optional', '--gently'], { stdio: ['ignore', 'ignore', 'inherit'] }).unref();
};
