import test from 'ava';
import fc from 'fast-check';
import { interpolate, interpolateAll, quoteReferences } from '../../../engine/config/env.ts';
import { anyText } from '../../support/arbitraries/text.ts';

const env = { A: 'one', B_2: 'two', EMPTY: '', NESTED: `$A \${A}`, gone: undefined };

const cases = [
  ['a bare name', '$A', 'one', []],
  ['a name in braces', `\${A}`, 'one', []],
  ['names inside a text', `x-$A-\${B_2}.y`, 'x-one-two.y', []],
  ['braces end a name early', `\${A}B_2`, 'oneB_2', []],
  ['a name takes all that it can', '$AB', '', ['AB']],
  ['a name ends before a dash', '$A-B', 'one-B', []],
  ['one that is not set', 'k-$NONE', 'k-', ['NONE']],
  ['one that is set to nothing', '$EMPTY', '', ['EMPTY']],
  ['one that the environment lists without a value', '$gone', '', ['gone']],
  ['several that are not set', `$X\${Y}$A`, 'one', ['X', 'Y']],
  ['two dollar signs', 'pa$$A', 'pa$A', []],
  ['three dollar signs', '$$$A', '$one', []],
  ['a dollar sign at the end', '^a$', '^a$', []],
  ['a dollar sign before a digit', '$1', '$1', []],
  ['a default, which is no reference', `\${A:-x}`, `\${A:-x}`, []],
  ['braces without a name', `\${}`, `\${}`, []],
  ['code', `$(touch x) \${process.exit()} 'id'`, `$(touch x) \${process.exit()} 'id'`, []],
  ['a value that looks like a reference', '$NESTED', `$A \${A}`, []],
  ["what every object has isn't in the environment", '$constructor', '', ['constructor']],
] as const;

for (const [title, text, filled, unset] of cases) {
  test(`interpolate: ${title}`, (t) => t.deepEqual(interpolate(text, env), { text: filled, unset: [...unset] }));
}

test('a text without a dollar sign stays as it is', (t) => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const plain = text.replaceAll('$', '');
      return interpolate(plain, env).text === plain;
    }),
  );
  t.pass();
});

test('doubling the dollar signs of any text keeps it', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', 'x', ' ') }), (text) => {
      const { text: filled, unset } = interpolate(text.replaceAll('$', '$$$$'), env);
      return filled === text && unset.length === 0;
    }),
  );
  t.pass();
});

test('every string of a value is interpolated, and paths of unset variables are reported', (t) => {
  const written = { a: '$A', list: ['$A', { deep: `\${NONE}` }], n: 1, yes: true, none: null, $A: 'key' };
  t.deepEqual(interpolateAll(written, env), {
    value: { a: 'one', list: ['one', { deep: '' }], n: 1, yes: true, none: null, $A: 'key' },
    unset: [{ path: 'list[1].deep', name: 'NONE' }],
  });
  t.is(written.a, '$A');
});

test('S13 a member named __proto__ stays a member', (t) => {
  const { value } = interpolateAll(JSON.parse('{"__proto__":{"x":"$A"}}'), env);
  t.is(JSON.stringify(value), '{"__proto__":{"x":"one"}}');
  t.is(Object.getPrototypeOf(value), Object.prototype);
});

test('findings quote references in place of values, also of parts, and leave what is written', (t) => {
  const said = (message: string): string | undefined =>
    quoteReferences([{ path: 'p', message }], { to: '$ROUTE', mine: 'work', small: '$ONE' }, vars)[0]?.message;
  const vars = { ROUTE: 'vendor,large', ONE: '1' };
  t.is(said('names "vendor,large", "xvendor,largex" and vendor,large'), 'names "$ROUTE", "x$ROUTEx" and $ROUTE');
  t.is(said('names the unknown provider "Vendor" of "work"'), 'names the unknown provider "$ROUTE" of "work"');
  t.is(said('must be at least 1, not "1"'), 'must be at least 1, not "$ONE"');
  t.is(said('is "unknown"; did you mean "other'), 'is "unknown"; did you mean "other');
});
