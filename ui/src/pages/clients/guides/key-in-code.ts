import type { Connection } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** How Python code reads the key: an import line and an expression. */
export const inPython = ({ wantsKey }: Connection): { readonly head: string; readonly key: string } =>
  wantsKey ? { head: 'import os\n', key: `os.environ["${keyVariable}"]` } : { head: '', key: `"${anyKey}"` };

/** How JavaScript code reads the key: an expression. */
export const inJavaScript = ({ wantsKey }: Connection): string =>
  wantsKey ? `process.env.${keyVariable}` : `'${anyKey}'`;
