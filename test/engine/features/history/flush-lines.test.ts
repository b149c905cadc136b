import test from 'ava';
import { flushLines } from '../../../../engine/features/history/flush-lines.ts';
import { PendingLines } from '../../../../engine/features/record/pending-lines.ts';
import { until } from '../../../support/until.ts';

/** Lines on their way to a writer that keeps a batch when the test says so. */
const flushing = async () => {
  const lines = new PendingLines();
  /** Lines of each batch. */
  const batches: number[] = [];
  const waiting: (() => void)[] = [];
  let n = 0;
  const flush = await flushLines({
    ...{ file: 'requests.db', lines, bounds: () => ({ days: 1, bytes: 1 }), onKept: () => undefined },
    ...{ log: { warn: () => undefined }, everyMs: 1_000_000 },
    writer: {
      bound: async () => undefined,
      async append(batch) {
        batches.push(Buffer.from(batch).toString().split('\n').length - 1);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return null;
      },
      clear: async () => undefined,
      check: async () => undefined,
    },
  });
  const add = (count: number): void => {
    for (let left = count; left > 0; left -= 1) {
      n += 1;
      lines.add(n, `{"n":${n},"x":"${'x'.repeat(600)}"}`);
    }
  };
  const keep = async (): Promise<void> => {
    await until(() => waiting.length > 0);
    waiting.shift()?.();
  };
  return { lines, batches, flush, add, keep };
};

test('under load, lines are written by whole blocks', async (t) => {
  const { lines, batches, flush, add, keep } = await flushing();
  add(100);
  t.deepEqual(batches, [], 'a few wait for their time');
  for (let round = 0; round < 30; round += 1) {
    add(50);
    await new Promise((resolve) => setImmediate(resolve));
    if (batches.length > 0 && round % 10 === 9) await keep();
  }
  await until(() => batches.length >= 3);
  t.true(
    batches.every((count) => count > 300),
    `${batches}`,
  );
  const written = flush.write();
  for (let left = lines.unwritten; left > 0; left = lines.unwritten) {
    await keep();
    await until(() => lines.unwritten < left);
  }
  await written;
  t.is(
    batches.reduce((sum, count) => sum + count, 0),
    1_600,
  );
});

test('what comes while lines are written is left to the next time', async (t) => {
  const { lines, batches, flush, add, keep } = await flushing();
  add(3);
  const first = flush.write();
  await until(() => batches.length === 1);
  add(2);
  await keep();
  await first;
  t.deepEqual([batches, lines.unwritten], [[3], 2]);
  const second = flush.write();
  await keep();
  await second;
  t.deepEqual([batches, lines.unwritten], [[3, 2], 0]);
});
