// Registers the loader for TypeScript sources, independent of any tsconfig.json in the working directory.

import { fileURLToPath } from 'node:url';
import { register as registerRequire } from 'tsx/cjs/api';
import { register } from 'tsx/esm/api';

const { TSX_TSCONFIG_PATH: own } = process.env;
process.env.TSX_TSCONFIG_PATH = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
registerRequire();
register({ tsconfig: false });
if (own === undefined) delete process.env.TSX_TSCONFIG_PATH;
else process.env.TSX_TSCONFIG_PATH = own;
