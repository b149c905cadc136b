import { shells } from '../../../client-tools/tool.ts';
import { clientTools } from '../../../client-tools/tools.ts';

/** The clients that the command line knows: those for which there is something to set. */
export const clients = clientTools.filter(({ variables, settings }) => variables ?? settings);

/** Output syntaxes that `junctor env --shell` accepts. */
export const syntaxes = [...shells, 'json'] as const;
