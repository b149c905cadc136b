import { resolve } from 'node:path';
import test from 'ava';
import { testFiles } from './compile.js';
import { groupTests, isGroup } from './groups.js';
import { tierOf, tiers } from './tiers.js';

const root = resolve(import.meta.dirname, '../..');
const files = testFiles();

test('a test file is in the tier that its imports say', (t) => {
  for (const [file, tier] of [
    ['test/engine/config/read.test.ts', 'in-process'],
    ['test/engine/requests/pass-through.test.ts', 'in-process'],
    ['test/runner/tiers.test.ts', 'in-process'],
    ['test/engine/cli/service.test.ts', 'processes'],
    ['test/ui/navigation.test.ts', 'processes'],
    ['test/packages/installed-package.test.ts', 'processes'],
    // Through modules beside them.
    ['test/engine/hub/contract.test.ts', 'processes'],
    ['test/reliability/clients.test.ts', 'processes'],
  ] as const)
    t.is(tierOf(root, file), tier, file);
});

test('each test file is in one tier, and no group has files of both', (t) => {
  const groups = tiers.map((tier) =>
    groupTests(
      root,
      files.filter((file) => tierOf(root, file) === tier),
      tier,
    ),
  );
  t.deepEqual(groups.flatMap((one) => [...one.values()].flat()).sort(), files);
  const [first, second] = groups;
  t.deepEqual(
    [...(first?.keys() ?? [])].filter((file) => isGroup(file) && second?.has(file)),
    [],
  );
  for (const one of groups) t.true(one.size > 10);
});
