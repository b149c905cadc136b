import test from 'ava';
import { lastValueFrom, of, toArray } from 'rxjs';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { validateOrder } from '../../../engine/operators/validate-order.ts';
import { replyContext } from '../../support/context.ts';

const events: Readonly<Record<string, ModelEvent>> = {
  start: { type: 'message-start', id: '', model: 'm' },
  open0: { type: 'block-start', index: 0, block: { type: 'text' } },
  open1: { type: 'block-start', index: 1, block: { type: 'text' } },
  text0: { type: 'text-delta', index: 0, text: 'a' },
  text1: { type: 'text-delta', index: 1, text: 'a' },
  shut0: { type: 'block-stop', index: 0 },
  shut1: { type: 'block-stop', index: 1 },
  stop: { type: 'message-stop', finish: 'end', usage: {} },
  error: { type: 'error', fault: { kind: 'upstream-cut', message: 'cut' } },
};

const cases: readonly (readonly [given: string, passed: string, what?: string])[] = [
  ['start open0 text0 shut0 open1 shut1 stop', 'start open0 text0 shut0 open1 shut1 stop'],
  ['start stop', 'start stop'],
  ['error', 'error'],
  ['start open0 error', 'start open0 error'],
  ['start stop text0 stop start', 'start stop'],
  ['error start', 'error'],
  ['', '', 'omitted the end of the answer'],
  ['start open0 text0', 'start open0 text0', 'omitted the end of the answer'],
  ['text0 stop', '', 'gave text-delta before the answer has begun'],
  ['start start stop', 'start', 'started the answer twice'],
  ['start text0 stop', 'start', 'gave text-delta of block 0 out of order'],
  ['start open1 stop', 'start', 'gave block-start of block 1 out of order'],
  ['start open0 open1 stop', 'start open0', 'gave block-start of block 1 out of order'],
  ['start open0 text1 stop', 'start open0', 'gave text-delta of block 1 out of order'],
  ['start open0 shut0 shut0 stop', 'start open0 shut0', 'gave block-stop of block 0 out of order'],
  ['start open0 shut0 text0 stop', 'start open0 shut0', 'gave text-delta of block 0 out of order'],
  ['start open0 stop', 'start open0', 'ended the answer inside a block'],
];

for (const [given, passed, what] of cases) {
  test(given || 'nothing', async (t) => {
    const read = (text: string): readonly ModelEvent[] => text.split(' ').flatMap((name) => events[name] ?? []);
    const keep = validateOrder(replyContext(), (message) => ({ kind: 'stage-failed', message }));
    for (const batches of [[read(given)], read(given).map((event) => [event])]) {
      const out = (await lastValueFrom(of(...batches).pipe(keep, toArray()))).flat();
      const fault = what === undefined ? [] : [{ type: 'error', fault: { kind: 'stage-failed', message: what } }];
      t.deepEqual(out, [...read(passed), ...fault]);
    }
  });
}
