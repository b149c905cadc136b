import assert from 'node:assert/strict';
import test from 'ava';
import { storeAnswers } from '../../../engine/store/queries.ts';
import { loadSqlite } from '../../../engine/store/sqlite.ts';
import { openStoreIn } from '../../../engine/store/store-thread.ts';
import { StoreWriter } from '../../../engine/store/writer.ts';
import { keptRequest, linesOf } from './requests.ts';

test('a thread that does not answer has 1,000 jobs at most', async (t) => {
  const silent = { on: () => undefined, postMessage: () => undefined, ref: () => undefined, unref: () => undefined };
  const open = openStoreIn(() => ({ ...silent, terminate: async () => undefined }));
  const store = open({ role: 'read', file: '/nowhere' }, { warn: () => undefined });
  const waiting = Array.from({ length: 1_000 }, () => store.ask('extent', null));
  const ended = Promise.allSettled(waiting);
  await t.throwsAsync(store.ask('extent', null), { message: /Too many questions/ });
  await store.close();
  t.true((await ended).every(({ status }) => status === 'rejected'));
});

test('names that clients choose are told apart 20,000 times, then they are `other`', (t) => {
  const sqlite = loadSqlite();
  assert.ok(sqlite);
  const writer = new StoreWriter(sqlite, { file: ':memory:' }, assert.fail);
  t.teardown(() => writer.close());
  const requests = Array.from({ length: 20_100 }, (_, n) => keptRequest(`r${n}`, n, { asked: `name-${n}` }));
  const answers = storeAnswers(writer.filled(linesOf(requests)));
  const count = (model: string) => answers.facets({ model }).requests;
  t.deepEqual([count('name-7'), count('name-20050'), count('other'), count('m')], [1, 0, 100, 20_100]);
});
