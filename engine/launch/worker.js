// @ts-check
import { load } from './load.js';

await load('run-worker', '../service/worker-main.ts');
