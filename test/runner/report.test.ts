import test from 'ava';
import { failedFiles, readReport } from './report.ts';

test("a run's report is read from the runner's output", (t) => {
  const output = [
    '  ✔ a › passes (12ms)',
    '  ✘ [fail]: a › fails Rejected promise returned by test',
    '  Uncaught exception in test/b.test.ts',
    '  ✘ test/b.test.ts exited with a non-zero exit code: 1',
    '  ◌ c › hangs',
    '  ─',
    '',
    '  1 test passed',
    '  1 test failed',
    '  1 uncaught exception',
    '  1 test remained pending after a timeout',
  ].join('\n');
  t.deepEqual(readReport(output), {
    passed: 1,
    failed: 3,
    failures: [
      'a › fails Rejected promise returned by test',
      'Uncaught exception in test/b.test.ts',
      'test/b.test.ts exited with a non-zero exit code: 1',
      'c › hangs',
    ],
  });
});

test('a run in which everything passes has no failures', (t) => {
  t.deepEqual(readReport('  ✔ failing input is refused\n  ─\n\n  6893 tests passed\n'), {
    passed: 6893,
    failed: 0,
    failures: [],
  });
});

test('where something failed, the tests that passed are counted by their marks', (t) => {
  const output = '  ✔ a › passes\n  ✘ [fail]: a › fails\n  ✔ a › passes too\n  ─\n\n  1 test failed\n';
  t.deepEqual(readReport(output), { passed: 2, failed: 1, failures: ['a › fails'] });
});

test('failures name their files, by title or path', (t) => {
  const files = ['test/a.test.ts', 'test/a/b.test.ts', 'test/ui/use.test.ts'];
  t.deepEqual(
    failedFiles(
      [
        'a › b › fails',
        'a › fails',
        'Uncaught exception in test/ui/use.test.ts',
        'a › fails again Error: x',
        'ui › use › hangs',
      ],
      files,
    ),
    ['test/a/b.test.ts', 'test/a.test.ts', 'test/ui/use.test.ts'],
  );
  t.is(failedFiles(['a › fails', 'no file of these'], files), undefined);
  t.deepEqual(
    failedFiles(['test/__tests__/a.test.ts exited due to SIGKILL'], files, [
      ['test/__tests__/a.test.ts', ['test/a.test.ts', 'test/a/b.test.ts']],
    ]),
    ['test/a.test.ts', 'test/a/b.test.ts'],
    'a process that several files share',
  );
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `test/${name}.test.ts`);
  const failures = many.map((file) => `Uncaught exception in ${file}`);
  t.is(failedFiles(failures, many), undefined, 'more than a busy machine explains');
  t.deepEqual(failedFiles([...failures.slice(1), ...failures.slice(1)], many), many.slice(1));
});
