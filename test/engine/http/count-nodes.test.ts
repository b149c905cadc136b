import test from 'ava';
import { countNodes } from '../../../engine/model/json/count-nodes.ts';

for (const [text, nodes] of [
  ['', 0],
  ['"[{"', 0],
  ['[[],{"a":[1,2]},"[]"]', 4],
  ['{"a\\"[":"\\\\","b":["\\\\\\"{"]}', 2],
  ['["\\', 1],
  ['["é[",{}]', 2],
] as const) {
  test(`${text} has ${nodes} arrays and objects`, (t) => t.is(countNodes(Buffer.from(text)), nodes));
}
