import { createRequire } from 'node:module';
import { root } from './places.ts';

/** The package's version. */
export const version: string = createRequire(root)('./package.json').version;
