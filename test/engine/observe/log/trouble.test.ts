import test from 'ava';
import { reportThrottled } from '../../../../engine/observe/log/log-writer.ts';

const coded = (code: string) => Object.assign(new Error(`${code}: no`), { code });

test('one warning per kind of trouble and hour', (t) => {
  const told: string[] = [];
  let nowMs = 0;
  const trouble = reportThrottled(
    (message) => told.push(message),
    () => nowMs,
  );
  trouble('a.log', coded('ENOSPC'));
  trouble('b.log', coded('ENOSPC'));
  trouble('b.log', coded('EROFS'));
  nowMs = 3_599_999;
  trouble('a.log', coded('ENOSPC'));
  t.is(told.length, 2);
  t.regex(told[0] ?? '', /a\.log.*ENOSPC/);
  nowMs = 3_600_000;
  trouble('a.log', coded('ENOSPC'));
  t.is(told.length, 3);
});
