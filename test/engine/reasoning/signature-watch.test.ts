import test from 'ava';
import { awaitSign } from '../../../engine/reasoning/signature-watch.ts';

const run = (sign: string | undefined, chunks: readonly string[]): string[] => {
  const passed: string[] = [];
  const take = awaitSign(sign, (chunk) => passed.push(Buffer.from(chunk).toString()));
  for (const chunk of chunks) take(Buffer.from(chunk));
  return passed;
};

const cases: readonly (readonly [title: string, sign: string | undefined, chunks: string[], passed: string[]])[] = [
  ['without a sign all passes', undefined, ['a', 'b'], ['a', 'b']],
  ['without the sign nothing passes', 'xyz', ['a', 'x', 'yx'], []],
  ['what came before the sign comes first', 'xyz', ['a', 'bxyzc', 'd'], ['a', 'bxyzc', 'd']],
  ['the sign may be cut', 'xyz', ['ax', 'y', 'z', 'd'], ['ax', 'y', 'z', 'd']],
];
for (const [title, ...given] of cases) {
  const [sign, chunks, passed] = given;
  test(title, (t) => t.deepEqual(run(sign, chunks), passed));
}

test('a long stream without the marker is released', (t) => {
  t.deepEqual(run('xyz', ['a'.repeat(70_000), 'xyz', 'd']), []);
});
