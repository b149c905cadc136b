import test from 'ava';
import { loadUws, uwsCandidates, uwsMissing } from '../../../engine/http/load-uws.ts';

const newer = 'uWebSockets.js';
const older = 'uWebSockets.js-glibc227';

const candidates = [
  ['20.19.0', [older]],
  ['20.20.2', [older]],
  ['22.12.0', [newer, older]],
  ['24.1.0', [newer, older]],
  ['26.0.0-nightly', [newer, older]],
] as const;

for (const [node, expected] of candidates) {
  test(`on Node ${node} ${expected[0]} comes first`, (t) => t.deepEqual(uwsCandidates(node), expected));
}

test('a build loads here, with room for large heads', (t) => {
  t.is(typeof loadUws().App, 'function');
  t.is(process.env.UWS_HTTP_MAX_HEADERS_SIZE, '65536');
});

test('the error is one line that names the machine and what would work', (t) => {
  const line = uwsMissing({ platform: 'linux', arch: 'riscv64', node: '21.0.0', glibc: '' });
  for (const word of ['linux', 'riscv64', '21.0.0', 'glibc absent', '2.27', '2.38', 'Node 20'])
    t.true(line.includes(word));
  t.false(line.includes('\n'));
  t.false(uwsMissing({ platform: 'darwin', arch: 'arm64', node: '21.0.0', glibc: '' }).includes('absent'));
});
