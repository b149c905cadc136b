import test from 'ava';
import { BoundedMap } from '../../../engine/runtime/memoize.ts';

test('beyond its bound, a map drops what was set first', (t) => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  t.deepEqual(
    [...map],
    [
      ['a', 3],
      ['c', 4],
    ],
  );
});

test('what is remembered is built once, while it is kept', (t) => {
  const map = new BoundedMap<string, number>(2);
  let built = 0;
  const build = (): number => {
    built += 1;
    return built;
  };
  t.deepEqual(
    ['a', 'b', 'a', 'c', 'a', 'b'].map((name) => map.remember(name, build)),
    [1, 2, 1, 3, 4, 5],
  );
});
