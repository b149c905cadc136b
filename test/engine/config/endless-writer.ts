import { dirname } from 'node:path';
import { ConfigOnDisk } from '../../../engine/config/file.ts';

/** A process that replaces a configuration's file, backups and all, until it is killed, and says when it begins. */
const [, , path = '', from = '0'] = process.argv;

/** Long enough that the system takes several steps to write it. */
const padding = 'x'.repeat(300_000);

const file = new ConfigOnDisk(path, dirname(path));
process.stdout.write('begun\n');
for (let count = Number(from); ; count += 1) {
  await file.write(() => JSON.stringify({ count, padding, again: count }));
}
