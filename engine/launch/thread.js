// @ts-check

import { workerData } from 'node:worker_threads';

// Entry point of a worker thread that runs TypeScript sources; `workerData` is the URL of its program.
await import('./typescript.js');
await import(workerData);
