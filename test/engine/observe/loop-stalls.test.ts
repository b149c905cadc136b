import test from 'ava';
import { LoopStalls } from '../../../engine/observe/loop-stalls.ts';

test('holds are counted by step, and logged at most every 10 s', (t) => {
  let nowMs = 0;
  const lines: unknown[] = [];
  const log = (level: string) => (text: string, more?: object) => lines.push([level, text, more]);
  const holds = new LoopStalls({ info: log('info'), warn: log('warn') }, () => nowMs);
  for (let count = 0; count < 5; count += 1) holds.add({ step: 'stage slow', ms: 300.4 + count });
  nowMs = 10_000;
  holds.add({ step: 'other', ms: 900 });
  const text = 'all requests had to wait for one step';
  t.deepEqual(lines, [
    ['warn', text, { step: 'stage slow', ms: 300 }],
    ['info', text, { step: 'other', ms: 900, others: 4 }],
  ]);
  t.deepEqual(holds.counts, [
    { step: 'other', count: 1, longestMs: 900 },
    { step: 'stage slow', count: 5, longestMs: 304 },
  ]);
  for (let count = 0; count < 1_000; count += 1) holds.add({ step: `stage ${count}`, ms: 200 });
  t.is(holds.counts.length, 100);
});
