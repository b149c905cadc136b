import test from 'ava';
import fc from 'fast-check';
import { globMatcher } from '../../../engine/config/glob.ts';

const globs: readonly (readonly [glob: string, matching: readonly string[], others: readonly string[]])[] = [
  ['m', ['m'], ['M', 'mm', '']],
  ['*', ['', 'anything'], []],
  ['claude-*', ['claude-', 'claude-opus'], ['claude', 'x-claude-opus']],
  ['*-mini', ['-mini', 'gpt-mini'], ['mini', 'gpt-mini-2']],
  ['a*b*c', ['abc', 'aXbYc', 'abbc'], ['acb', 'ab', 'ac', 'abcd']],
  ['ab*ba', ['abba', 'ab-ba'], ['aba']],
  ['a.c', ['a.c'], ['abc']],
];
for (const [glob, matching, others] of globs) {
  test(`the glob ${glob}`, (t) => {
    const matches = globMatcher(glob);
    t.deepEqual(
      matching.filter((text) => !matches(text)),
      [],
    );
    t.deepEqual(others.filter(matches), []);
  });
}

test('a glob matches what its regular expression does', (t) => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  t.notThrows(() =>
    fc.assert(
      fc.property(part, text, (glob, given) => {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(given);
        return globMatcher(glob)(given) === expected;
      }),
      { numRuns: 2_000 },
    ),
  );
});
