import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { serverLogPolicy } from '../../../../engine/observe/log/log-policy.ts';
import { temporaryHome } from './temporary-home.ts';

const now = new Date(2026, 0, 2, 3, 4, 5);

const placeWith = (t: ExecutionContext, ...names: readonly string[]) => {
  const home = temporaryHome(t);
  const folder = join(home, 'logs');
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), '');
  return { folder, place: serverLogPolicy(home, () => now) };
};

test("goes on with today's newest file, and with none of another day", (t) => {
  const today = placeWith(t, 'junctor-20260102000000.log', 'junctor-20260102010000.log', 'zzz.log');
  t.is(today.place.current(), join(today.folder, 'junctor-20260102010000.log'));
  t.is(placeWith(t, 'junctor-20260101235959.log').place.current(), undefined);
  t.is(placeWith(t).place.current(), undefined);
});

test('names within one second differ', (t) => {
  const { folder, place } = placeWith(t, 'junctor-20260102030405.log', 'junctor-20260102030406.log');
  t.is(place.next(), join(folder, 'junctor-20260102030407.log'));
});

test('keeps three files and all foreign files', (t) => {
  const days = ['01', '02', '03', '04', '05'].map((day) => `junctor-202601${day}000000.log`);
  const { folder, place } = placeWith(t, ...days, 'notes.txt');
  place.prune(join(folder, 'junctor-20260105000000.log'));
  t.deepEqual(readdirSync(folder).sort(), [...days.slice(2), 'notes.txt']);
});

test('never removes the file in use, even if the clock was set back', (t) => {
  const days = ['01', '02', '03', '04'].map((day) => `junctor-202601${day}000000.log`);
  const { folder, place } = placeWith(t, ...days);
  place.prune(join(folder, 'junctor-20260101000000.log'));
  t.deepEqual(readdirSync(folder).sort(), [days[0], days[2], days[3]]);
});
