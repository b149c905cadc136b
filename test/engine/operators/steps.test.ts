import test from 'ava';
import { firstValueFrom, lastValueFrom, map, of, Subject, throwError, timer } from 'rxjs';
import type { Exchange } from '../../../engine/exchange.ts';
import { breathe } from '../../../engine/operators/breathe.ts';
import { steps } from '../../../engine/operators/steps.ts';

const add = (more: string) => (text: string) => text + more;
const later = (more: string) => (text: string) => timer(1).pipe(map(() => text + more));

test('steps follow each other, at once where none waits', (t) => {
  const seen: string[] = [];
  of('a')
    .pipe(steps(add('b'), add('c')))
    .subscribe((text) => seen.push(text));
  t.deepEqual(seen, ['abc']);
});

test('a step that waits is waited for, wherever it stands', async (t) => {
  const all = steps(later('b'), add('c'), later('d'), add('e'), later('f'));
  t.is(await lastValueFrom(of('a').pipe(all)), 'abcdef');
});

test('what a step throws, or fails with, is the fault; later steps do not run', async (t) => {
  let ran = 0;
  const count = (text: string): string => {
    ran += 1;
    return text;
  };
  const broken = (): string => {
    throw new Error('broken');
  };
  const failing = () => throwError(() => new Error('failed'));
  await t.throwsAsync(firstValueFrom(of('a').pipe(steps(broken, count))), { message: 'broken' });
  await t.throwsAsync(firstValueFrom(of('a').pipe(steps(failing, count))), { message: 'failed' });
  const late = steps(later('b'), broken, count, count, count);
  await t.throwsAsync(firstValueFrom(of('a').pipe(late)), { message: 'broken' });
  t.is(ran, 0);
});

test('a request that is given up runs no further step', (t) => {
  const wait = new Subject<string>();
  let ran = 0;
  const running = of('a').pipe(
    steps(
      () => wait,
      (text: string) => {
        ran += 1;
        return text;
      },
    ),
  );
  running.subscribe().unsubscribe();
  wait.next('b');
  t.is(ran, 0);
  t.false(wait.observed);
});

test('a large body lets others have their turn, a small one does not', async (t) => {
  // All that the step looks at.
  const exchange = (bytes: number) => ({ body: new Uint8Array(bytes) }) as Exchange;
  const small = exchange(1000);
  t.is(breathe()(small), small);
  const large = exchange(1_000_000);
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  const [same] = await Promise.all([
    firstValueFrom(
      of(large).pipe(
        steps(breathe<Exchange>(), (given: Exchange) => {
          t.true(turns > 0);
          return given;
        }),
      ),
    ),
  ]);
  t.is(same, large);
});
