import test from 'ava';
import { ToolNames } from '../../../../engine/model/wire/tool-names.ts';

const fits = /^[a-zA-Z0-9_-]{1,64}$/;

test('names that fit stay, others are made to fit, and each one comes back', (t) => {
  const names = new ToolNames();
  const long = 'x'.repeat(64);
  const pairs = [
    ['plain', 'plain'],
    ['a.b', 'a_b'],
    ['a/b', 'a_b_1'],
    ['a b', 'a_b_2'],
    ['a_b_3', 'a_b_3'],
    ['a:b', 'a_b_4'],
    ['', '_'],
    [long, long],
    [`${long}1`, `${'x'.repeat(62)}_1`],
    [`${long}2`, `${'x'.repeat(62)}_2`],
    [`${'x'.repeat(62)}yz`, `${'x'.repeat(62)}yz`],
    [`${'x'.repeat(62)}yzz`, `${'x'.repeat(62)}_3`],
  ] as const;
  for (const [name, wire] of pairs) t.is(names.wire(name, fits, 64), wire);
  for (const [name, wire] of pairs) {
    t.is(names.wire(name, fits, 64), wire);
    t.is(names.model(wire), name);
  }
});
