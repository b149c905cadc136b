// @ts-check
import { load } from './load.js';

// The program that `junctor bench own` starts, of this checkout or package.
await load('bench-own', '../bench/own/serve.ts');
