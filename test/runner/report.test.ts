import test from 'ava';
import { readReport } from './report.ts';

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
