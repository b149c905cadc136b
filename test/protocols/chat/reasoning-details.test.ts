import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { joinFragments } from '../../../protocols/chat/reasoning-details.ts';

const piece = (text: string, more: JsonObject = {}): JsonObject => ({
  type: 'reasoning.text',
  text,
  index: 0,
  ...more,
});
const sealed = { type: 'reasoning.encrypted', data: 'x', index: 0 };

const cases: readonly (readonly [title: string, entries: readonly JsonObject[], joined: readonly JsonObject[]])[] = [
  ['a stream’s pieces', [piece('a', { format: 'f' }), piece('b')], [piece('ab', { format: 'f' })]],
  ['the seal comes last, without text', [piece('a'), piece('', { signature: 's' })], [piece('a', { signature: 's' })]],
  ['an entry that is whole stays as it is', [piece('a', { signature: 's' })], [piece('a', { signature: 's' })]],
  [
    'behind a seal another entry begins',
    [piece('a', { signature: 's' }), piece('b')],
    [piece('a', { signature: 's' }), piece('b')],
  ],
  ['another index is another entry', [piece('a'), piece('b', { index: 1 })], [piece('a'), piece('b', { index: 1 })]],
  [
    'without an index nothing is joined',
    [
      { type: 'reasoning.text', text: 'a' },
      { type: 'reasoning.text', text: 'b' },
    ],
    [
      { type: 'reasoning.text', text: 'a' },
      { type: 'reasoning.text', text: 'b' },
    ],
  ],
  ['sealed entries stay apart', [piece('a'), sealed, sealed], [piece('a'), sealed, sealed]],
  [
    'nulls say nothing',
    [piece('a', { format: 'f' }), piece('b', { format: null, signature: null })],
    [piece('ab', { format: 'f' })],
  ],
];
for (const [title, entries, joined] of cases) {
  test(title, (t) => t.deepEqual(joinFragments(entries).map(({ entry }) => entry) as unknown, joined));
}

test('an entry has the position of its first piece', (t) => {
  const entries = [sealed, piece('a'), piece('b'), piece('c', { index: 1 })];
  t.deepEqual(
    joinFragments(entries).map(({ place }) => place),
    [0, 1, 3],
  );
});
