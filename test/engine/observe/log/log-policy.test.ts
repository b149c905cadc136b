import test from 'ava';
import { isOfDay, isServerLogName, serverLogName } from '../../../../engine/observe/log/log-policy.ts';

const at = new Date(2026, 0, 2, 3, 4, 5);

test('a name is the local time of its beginning', (t) => {
  t.is(serverLogName(at), 'junctor-20260102030405.log');
  t.true(isServerLogName(serverLogName(at)));
});

test('a name has its day', (t) => {
  t.true(isOfDay('junctor-20260102235959.log', at));
  t.false(isOfDay('junctor-20260103000000.log', at));
});

for (const name of [
  'app.log',
  '.roll',
  'junctor-2026.log',
  'junctor-20260102030405.log.1',
  '../junctor-20260102030405.log',
]) {
  test(`${name} is no server log`, (t) => t.false(isServerLogName(name)));
}
