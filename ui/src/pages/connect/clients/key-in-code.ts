import type { Connection } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** How a program in Python comes by the key: a line for its head, and an expression. */
export const inPython = ({ wantsKey }: Connection): { readonly head: string; readonly key: string } =>
  wantsKey ? { head: 'import os\n', key: `os.environ["${keyVariable}"]` } : { head: '', key: `"${anyKey}"` };

/** How a program in JavaScript does: an expression. */
export const inJavaScript = ({ wantsKey }: Connection): string =>
  wantsKey ? `process.env.${keyVariable}` : `'${anyKey}'`;
