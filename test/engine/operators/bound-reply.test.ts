import test from 'ava';
import { lastValueFrom } from 'rxjs';
import { inSlices } from '../../../engine/operators/rx/stages.ts';

test('other work of the event loop runs between two slices', async (t) => {
  const order: string[] = [];
  const work = (function* () {
    for (const slice of ['1', '2', '3']) {
      order.push(slice);
      yield undefined;
    }
    return 'done';
  })();
  const other = (): void => {
    order.push('other');
    if (order.at(-2) !== '3') setImmediate(other);
  };
  const result = lastValueFrom(inSlices('decode-reply', () => work.next()));
  setImmediate(other);
  t.is(await result, 'done');
  t.deepEqual(order.slice(0, 6), ['1', 'other', '2', 'other', '3', 'other']);

  const failing = inSlices('decode-reply', () => {
    throw new Error('boom');
  });
  await t.throwsAsync(lastValueFrom(failing), { message: 'boom' });

  let slices = 0;
  const abandoned = inSlices('decode-reply', () => {
    slices += 1;
    return { done: false, value: undefined };
  }).subscribe();
  await new Promise((resolve) => setImmediate(resolve));
  abandoned.unsubscribe();
  const until = slices;
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.is(slices, until, 'nobody waits for the rest');
});
