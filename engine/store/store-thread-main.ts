import { parentPort } from 'node:worker_threads';
import { serveStore } from './serve-store.ts';
import { loadSqlite } from './sqlite.ts';

/* A thread of the store: the first message, a `StoreOpening`, says which file it opens; then it receives jobs and answers each. */

const port = parentPort;
if (port) {
  const serve = serveStore((answer) => port.postMessage(answer), loadSqlite());
  port.on('message', serve);
}
