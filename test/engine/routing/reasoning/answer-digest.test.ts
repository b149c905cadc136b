import test from 'ava';
import fc from 'fast-check';
import { AnswerDigest } from '../../../../engine/routing/reasoning/answer-digest.ts';

const digest = (...pieces: readonly string[]): string => {
  const one = new AnswerDigest();
  for (const piece of pieces) one.add(piece);
  return one.end();
};

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(' ', '\n', '\t  ', '\u00a0', '😀', 'word', ' '.repeat(20_000), 'x'.repeat(17_000)),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

test('the digest is that of the text without white space at its ends, wherever its pieces end', (t) => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(60_000), { maxLength: 6 }), (whole, cuts) => {
      const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
      const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end));
      t.is(digest(...pieces), digest(whole.trim()));
    }),
    { numRuns: 200 },
  );
  t.not(digest('a b'), digest('ab'));
  t.not(digest(''), digest('a'));
});
