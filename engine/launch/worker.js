// @ts-check
import { load } from './load.js';

await load('run-worker', '../workers/run-worker.ts');
