import test from 'ava';
import type { ModelEvent, Usage } from '../../../engine/model/event.ts';
import { type AnswerIds, normalizeEvents, readUsage } from '../../../engine/operators/read-events.ts';

const call = (index: number, id: string): ModelEvent => ({
  type: 'block-start',
  index,
  block: { type: 'tool-call', id, name: 'look' },
});
const piece = (index: number): ModelEvent => ({ type: 'input-delta', index, json: '{}' });
const stop = (usage: Usage = {}): ModelEvent => ({ type: 'message-stop', finish: 'tool-call', usage });
const mended = (...batches: readonly (readonly ModelEvent[])[]): readonly (readonly ModelEvent[])[] => {
  const ids: AnswerIds = new Map();
  return batches.map((batch) => normalizeEvents(batch, ids));
};

test('T3 calls that came with one id, or none, get ids of their own, across batches; what is unique stays', (t) => {
  const texts: readonly ModelEvent[] = [piece(0)];
  const batches = [
    [call(0, 'look'), piece(0), call(1, 'look')],
    texts,
    [call(2, 'look_2'), call(3, 'look'), call(4, 'x'), call(5, ''), call(6, '')],
  ];
  const out = mended(...batches);
  const ids = out
    .flat()
    .flatMap((event) => (event.type === 'block-start' && event.block.type === 'tool-call' ? [event.block.id] : []));
  t.deepEqual(ids, ['look', 'look_2', 'look_2_2', 'look_3', 'x', 'call_1', 'call_2']);
  t.is(out[1], texts, 'a batch without calls is passed on as it is');
  t.deepEqual(mended(...batches), out, 'the next answer begins anew');
});

test('T5 a call of no tool is an error', (t) => {
  const call: ModelEvent = { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'a', name: '' } };
  t.like(mended([call]).flat(), [{ type: 'error', fault: { kind: 'upstream-garbled' } }]);
});

test('S5 an answer ends in calls only when it has some', (t) => {
  t.like(mended([stop()]).flat(), [{ finish: 'end' }]);
  t.like(mended([call(0, 'a')], [stop()]).flat(), [call(0, 'a'), { finish: 'tool-call' }]);
});

test('U1 invalid token counts are omitted, the rest stays', (t) => {
  const usage = { input: 1e308, output: 5, cacheRead: -1, cacheWrite: 2 ** 53 - 1, reasoning: 1.5, costUsd: 0.25 };
  t.deepEqual(mended([call(0, 'a'), stop(usage)]).flat()[1], stop({ output: 5, costUsd: 0.25 }));
  t.deepEqual(readUsage(stop({ ...usage, costUsd: Number.POSITIVE_INFINITY }), { input: 3 }), { input: 3, output: 5 });
  const good = stop({ input: 1, output: 0 });
  t.is(mended([call(0, 'a'), good]).flat()[1], good);
  const start: ModelEvent = { type: 'message-start', id: '', model: '', usage: { input: Number.NaN } };
  t.deepEqual(mended([start]).flat(), [{ ...start, usage: {} }]);
});
