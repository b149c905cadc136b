import test from 'ava';
import type { Loss } from '../../../engine/model/loss.ts';
import { createLossCounter } from '../../../engine/observe/loss-counter.ts';

const loss = (step: string, path: string): Loss => ({ step, path, outcome: 'dropped' });

test('losses are counted by step and field, whatever their index', (t) => {
  const counter = createLossCounter();
  counter.count([loss('a', 'tools[0].cache_control'), loss('a', 'tools[12].cache_control'), loss('b', 'top_k')]);
  counter.count([loss('a', 'tools[0].cache_control'), loss('b', 'tools[0].cache_control')]);
  t.deepEqual(counter.series(), [
    { stage: 'a', field: 'tools[].cache_control', count: 3 },
    { stage: 'b', field: 'top_k', count: 1 },
    { stage: 'b', field: 'tools[].cache_control', count: 1 },
  ]);
});

test('a client that makes up field names gets no series for each', (t) => {
  const counter = createLossCounter(3);
  counter.count([loss('a', 'top_k')]);
  for (let number = 0; number < 1_000; number += 1) counter.count([loss(number % 2 ? 'a' : 'b', `made_up_${number}`)]);
  counter.count([loss('a', 'top_k'), loss('a', 'other')]);
  t.deepEqual(counter.series(), [
    { stage: 'a', field: 'top_k', count: 2 },
    { stage: 'a', field: 'made_up_1', count: 1 },
    { stage: 'a', field: 'other', count: 500 },
    { stage: 'b', field: 'made_up_0', count: 1 },
    { stage: 'b', field: 'other', count: 499 },
  ]);
});

test('names are cut to a bounded length', (t) => {
  const counter = createLossCounter();
  counter.count([loss('a', 'x'.repeat(1_000_000))]);
  t.is(counter.series()[0]?.field.length, 100);
});
