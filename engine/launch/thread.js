// @ts-check
import { workerData } from 'node:worker_threads';

// A thread that runs TypeScript as it is. Its program is named by whoever starts it.
await import('../cli/typescript.js');
await import(workerData);
