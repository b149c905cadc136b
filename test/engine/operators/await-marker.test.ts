import test from 'ava';
import { awaitMarker } from '../../../engine/operators/signatures.ts';

const run = (marker: string | undefined, chunks: readonly string[]): string[] => {
  const passed: string[] = [];
  const take = awaitMarker(marker, (chunk) => passed.push(Buffer.from(chunk).toString()));
  for (const chunk of chunks) take(Buffer.from(chunk));
  return passed;
};

const cases: readonly (readonly [title: string, marker: string | undefined, chunks: string[], passed: string[]])[] = [
  ['without a marker all passes', undefined, ['a', 'b'], ['a', 'b']],
  ['without the marker nothing passes', 'xyz', ['a', 'x', 'yx'], []],
  ['what came before the marker comes first', 'xyz', ['a', 'bxyzc', 'd'], ['a', 'bxyzc', 'd']],
];
for (const [title, ...given] of cases) {
  const [marker, chunks, passed] = given;
  test(title, (t) => t.deepEqual(run(marker, chunks), passed));
}

test('a long stream without the marker is released', (t) => {
  t.deepEqual(run('xyz', ['a'.repeat(70_000), 'xyz', 'd']), []);
});
