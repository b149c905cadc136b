import test from 'ava';
import { mutantsOf, withSwitches } from './mutants.ts';
import { testOf, testsIn } from './sequential-test.ts';

/** All changes of a line of code, applied. */
const changed = (source: string): readonly string[] =>
  mutantsOf(source).map(({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end));

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['f(a < b);', [';', 'f(a <= b);']],
  ['f(a && b);', [';', 'f(((a) || (b)));']],
  ['f(a ?? true);', [';', 'f(((a) && (true)));', 'f(a ?? false);']],
  ['for (;;) switch (a) { case b: break; case c: break; }', ['for (;;) switch (a) { case b: ; case c: break; }']],
  ['f(100);', [';', 'f((100 * 2));']],
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
  [
    'a satisfies never; const f = () => { if (a) return false; return a satisfies never; }',
    [
      'a satisfies never; const f = () => { if (false) return false; return a satisfies never; }',
      'a satisfies never; const f = () => { if (true) return false; return a satisfies never; }',
      'a satisfies never; const f = () => { if (a) return true; return a satisfies never; }',
    ],
  ],
  ["losses.drop('a', 'for people');", [';', "losses.drop('', 'for people');"]],
  ["import { a } from 'b'; type A = 'x' | 1; export { c } from 'd';", []],
];

for (const [source, expected] of cases) {
  test(`changes of ${source}`, (t) => {
    t.deepEqual(changed(source), expected);
  });
}

/** What a program's `f` returns, or throws, for a few arguments. */
const behaviour = (program: string, made?: number): string => {
  const f: unknown = new Function('isChanged', `${program}\nreturn f;`)((number: number) => number === made);
  const values = [undefined, null, 0, 2, 'b', { b: { c: (...args: unknown[]) => args.length } }];
  return values
    .flatMap((a) => values.map((b) => [a, b]))
    .map((args) => {
      try {
        return JSON.stringify(typeof f === 'function' ? f(...args) : f);
      } catch (error) {
        return String(error);
      }
    })
    .join('\n');
};

for (const source of [
  'const f = (a, b) => a?.b.c(b) ?? (b ? [1, ...[b], `${a}`] : -1);',
  "const f = (a, b) => { let n = 0; for (const x of [a, b]) { if (x === 'b' || !x) { n += 2; continue; } n++; } return { n, s: 's' }; };",
  'const f = (a, b) => { if (a) if (b) return 1; else a = 2 * 3; return (() => ({ a: a - 1, b: true }))(); };',
]) {
  test(`each switch of the program makes just its change: ${source}`, (t) => {
    const mutants = mutantsOf(source).map((mutant, index) => ({ ...mutant, number: index + 1 }));
    const program = withSwitches(source, mutants, 'isChanged');
    t.is(behaviour(program), behaviour(source));
    for (const [index, plain] of changed(source).entries())
      t.is(behaviour(program, index + 1), behaviour(plain), plain);
  });
}

for (const [actual, selector, passes] of [
  [{ a: [{ b: 1, c: 2 }, 3], d: 4 }, { a: [{ b: 1 }] }, true],
  [[{ b: 1, c: 2 }], { 0: { b: 1 }, length: 1 }, true],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: { 0: 1 } }, { a: [1] }, false],
] as const) {
  test(`a test that judges changes compares as the runner does: ${JSON.stringify([actual, selector])}`, async (t) => {
    testOf('compared')(t.title, (judging) => judging.like(actual, selector));
    const run = (await testsIn('compared')).get(t.title);
    const end = run?.().then(
      () => true,
      () => false,
    );
    t.is(await end, passes);
    if (passes) t.like(actual, selector);
  });
}
