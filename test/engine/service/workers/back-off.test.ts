import test from 'ava';
import { backOff } from '../../../../engine/service/workers/supervisor.ts';

test('workers that fall at once are replaced ever more slowly, healthy ones quickly', (t) => {
  const next = backOff();
  const falling = Array.from({ length: 9 }, () => next(0));
  t.deepEqual(falling, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  t.deepEqual([next(60_000), next(59_999), next(0)], [100, 200, 400]);
});
