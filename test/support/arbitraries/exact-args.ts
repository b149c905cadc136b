import fc, { type Arbitrary } from 'fast-check';
import { word } from './json.ts';

const digits = (min: number, max: number): Arbitrary<string> =>
  fc
    .tuple(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat(9), { minLength: min, maxLength: max }))
    .map(([first, rest]) => [first, ...rest, 7].join(''));

/** The text of a number that a double usually can't represent: long, with a long fraction, or out of range. */
const exactNumber: Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      digits(17, 40),
      digits(17, 40).map((fraction) => `0.${fraction}`),
      fc.tuple(digits(0, 9), digits(12, 30)).map(([whole, fraction]) => `${whole}.${fraction}`),
      fc.integer({ min: 400, max: 9_999 }).map((power) => `1e${power}`),
      fc.integer({ min: 400, max: 9_999 }).map((power) => `3.5E-${power}`),
    ),
  )
  .map(([sign, number]) => sign + number);

/** JSON text of nested arguments with such numbers, spaced like `JSON.stringify`. */
export const exactArgs: Arbitrary<string> = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    exactNumber,
    fc.oneof(word, exactNumber).map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'true', '0', '-1.5'),
    tie('object'),
    tie('array'),
  ),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .uniqueArray(fc.tuple(fc.oneof(word, fc.constantFrom('__proto__', 'toJSON', 'input')), tie('value')), {
      selector: ([name]) => name,
      maxLength: 4,
    })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
})).object;
