import { createHook } from 'node:async_hooks';
import { dirname } from 'node:path';
import { ConfigOnDisk } from '../../../../engine/config/files/file.ts';

/** A process that replaces a configuration's file, backups and all, and is killed amid the given one of its file operations. */
const [, , path = '', from = '0', operations = '0'] = process.argv;

/** Long enough that the system takes several steps to write it. */
const padding = 'x'.repeat(300_000);

let left = Number(operations);
createHook({
  init(_, type) {
    if (type !== 'FSREQPROMISE') return;
    left -= 1;
    // The operation begins right after this, in another thread.
    if (left === 0) process.nextTick(() => process.kill(process.pid, 'SIGKILL'));
  },
}).enable();

const file = new ConfigOnDisk(path, dirname(path));
for (let count = Number(from); ; count += 1) {
  await file.write(() => JSON.stringify({ count, padding, again: count }));
}
