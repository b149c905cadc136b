import test from 'ava';
import { isOfDay, isServerLogName, serverLogName } from '../../../engine/log/log-policy.ts';

const at = new Date(2026, 0, 2, 3, 4, 5);

test('a name is the local time of its beginning', (t) => {
  t.is(serverLogName(at), 'switchyard-20260102030405.log');
  t.true(isServerLogName(serverLogName(at)));
});

test('a name has its day', (t) => {
  t.true(isOfDay('switchyard-20260102235959.log', at));
  t.false(isOfDay('switchyard-20260103000000.log', at));
});

for (const name of [
  'app.log',
  '.roll',
  'switchyard-2026.log',
  'switchyard-20260102030405.log.1',
  '../switchyard-20260102030405.log',
]) {
  test(`${name} is no server log`, (t) => t.false(isServerLogName(name)));
}
