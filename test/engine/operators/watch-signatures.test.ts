import test from 'ava';
import { upTo } from '../../../engine/operators/watch-signatures.ts';

const read = (bytes: number, chunks: readonly string[]): readonly string[] => {
  const seen: string[] = [];
  const reader = upTo(bytes, {
    next: (chunk) => seen.push(Buffer.from(chunk).toString()),
    complete: () => seen.push('end'),
  });
  for (const chunk of chunks) reader.next(Buffer.from(chunk));
  reader.complete();
  return seen;
};

test('an answer within the bound is read along to its end', (t) => {
  t.deepEqual(read(6, ['abc', 'def']), ['abc', 'def', 'end']);
});

test('an answer beyond the bound is let go: neither its rest nor its end is read', (t) => {
  t.deepEqual(read(6, ['abc', 'defg', 'h', '']), ['abc']);
});
