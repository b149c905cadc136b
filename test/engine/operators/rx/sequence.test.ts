import test from 'ava';
import { EMPTY, firstValueFrom, lastValueFrom, map, of, Subject, throwError, timer } from 'rxjs';
import type { Exchange } from '../../../../engine/exchange.ts';
import { sequence, yieldIfLarge } from '../../../../engine/operators/rx/sequence.ts';

const add = (more: string) => (text: string) => text + more;
const later = (more: string) => (text: string) => timer(1).pipe(map(() => text + more));

test('steps follow each other, at once where none waits', (t) => {
  const seen: string[] = [];
  of('a')
    .pipe(sequence(add('b'), add('c')))
    .subscribe((text) => seen.push(text));
  t.deepEqual(seen, ['abc']);
});

test('a step that waits is waited for, wherever it stands', async (t) => {
  const all = sequence(later('b'), add('c'), later('d'), add('e'), later('f'));
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
  await t.throwsAsync(firstValueFrom(of('a').pipe(sequence(broken, count))), { message: 'broken' });
  await t.throwsAsync(firstValueFrom(of('a').pipe(sequence(failing, count))), { message: 'failed' });
  const late = sequence(later('b'), broken, count, count, count);
  await t.throwsAsync(firstValueFrom(of('a').pipe(late)), { message: 'broken' });
  t.is(ran, 0);
});

test('a request that is given up runs no further step', (t) => {
  const wait = new Subject<string>();
  let ran = 0;
  const running = of('a').pipe(
    sequence(
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
  t.is(yieldIfLarge()(small), small);
  const large = exchange(1_000_000);
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  const [same] = await Promise.all([
    firstValueFrom(
      of(large).pipe(
        sequence(yieldIfLarge<Exchange>(), (given: Exchange) => {
          t.true(turns > 0);
          return given;
        }),
      ),
    ),
  ]);
  t.is(same, large);
});

test('a value is replaced by its inner stream, and both are unsubscribed together', (t) => {
  const source = new Subject<string>();
  const led = new Subject<string>();
  const seen: string[] = [];
  const running = source.pipe(sequence(() => led)).subscribe((text) => seen.push(text));
  source.next('a');
  source.next('left out');
  led.next('b');
  t.deepEqual(seen, ['b']);
  running.unsubscribe();
  t.false(source.observed || led.observed);
});

test('a source that ends without a value, or fails, leads nowhere; what can not lead is the error', async (t) => {
  t.is(await lastValueFrom(EMPTY.pipe(sequence(() => of('a'))), { defaultValue: 'none' }), 'none');
  const failing = throwError(() => new Error('failed'));
  await t.throwsAsync(lastValueFrom(failing.pipe(sequence(() => of('a')))), { message: 'failed' });
  const broken = (): never => {
    throw new Error('broken');
  };
  await t.throwsAsync(lastValueFrom(of('a').pipe(sequence(broken))), { message: 'broken' });
});

test('a source that ends first does not end what it led to', (t) => {
  const led = new Subject<string>();
  const words: string[] = [];
  of('a')
    .pipe(sequence(() => led))
    .subscribe({ next: (text) => words.push(text), complete: () => words.push('|') });
  led.next('b');
  t.deepEqual(words, ['b']);
  led.complete();
  t.deepEqual(words, ['b', '|']);
});

test('one step that waits for a stream ends with that stream', async (t) => {
  const stepping = of('a').pipe(sequence((text: string) => of(`${text}b`)));
  t.is(await lastValueFrom(stepping), 'ab');
});
