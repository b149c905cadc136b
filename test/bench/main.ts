import { parseArgs } from 'node:util';
import { startLoad } from './load/start-load.ts';
import { renderTable } from './report/table.ts';
import { scenesNamed } from './scenes/index.ts';
import type { Row, Stage } from './scenes/scene.ts';
import { target as switchyard } from './targets/switchyard.ts';
import { startUpstream } from './upstream/start-upstream.ts';
import { pairNamed, pairs } from './wire.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pairs: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
};

const chosen = scenesNamed(positionals);
const stage: Stage = {
  settings: {
    pairs: values.pairs?.split(',').map(pairNamed) ?? pairs,
    targets: [switchyard],
    quick: values.quick,
  },
  upstream: await startUpstream(),
  load: startLoad(),
  progress,
};
const rows: Row[] = [];
for (const scene of chosen) {
  const found = await scene.run(stage);
  rows.push(...found);
  progress('');
  console.log(`${renderTable(found)}\n`);
}
process.exit(rows.some(({ failed }) => failed !== undefined) ? 1 : 0);
