import test from 'ava';
import { mutantsOf } from './mutants.ts';

/** All changes of a line of code, applied. */
const changed = (source: string): readonly string[] =>
  mutantsOf(source).map(({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end));

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['f(a < b);', [';', 'f(a <= b);']],
  ['f(a && b);', [';', 'f(((a) || (b)));']],
  ['f(a ?? true);', [';', 'f(((a) && (true)));', 'f(a ?? false);']],
  ['f(!a);', [';', 'f((a));']],
  ["f('x', 1);", [';', "f('', 1);", "f('x', (1 + 1));"]],
  ['if (a) b = c;', ['if (false) b = c;', 'if (true) b = c;', 'if (a) ;']],
  ['f(a?.b, c?.[d]);', [';', 'f(a.b, c?.[d]);', 'f(a?.b, c[d]);']],
  [
    'const f = (a: A): B => a + 1;',
    ['const f = (a: A): B => undefined;', 'const f = (a: A): B => a - 1;', 'const f = (a: A): B => a + (1 + 1);'],
  ],
  ['const f = [a, ...b];', ['const f = [];', 'const f = [a, ...[]];']],
  ["const f = { about: 'for people', b } satisfies Record<'x', string>;", []],
  ["import { a } from 'b'; type A = 'x' | 1; export { c } from 'd';", []],
];

for (const [source, expected] of cases) {
  test(`changes of ${source}`, (t) => {
    t.deepEqual(changed(source), expected);
  });
}
