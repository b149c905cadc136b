// @ts-check
import { load } from './load.js';

await load('run-worker', '../service/workers/worker-main.ts');
