import test from 'ava';
import {
  concat,
  lastValueFrom,
  map,
  NEVER,
  Observable,
  of,
  Subject,
  Subscription,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import { type Handlers, operate, type StageControl } from '../../../../engine/operators/rx/stages.ts';

/** What a subscriber sees: values, then `|` for an end or the error's message. */
const seen = (source: Observable<unknown>): string => {
  const words: string[] = [];
  source.subscribe({
    next: (value) => words.push(String(value)),
    complete: () => words.push('|'),
    error: (error: unknown) => words.push(error instanceof Error ? error.message : 'no error'),
  });
  return words.join(' ');
};

const boom = (): never => {
  throw new Error('boom');
};
const broken = throwError(() => new Error('broken'));

const cases: readonly (readonly [
  title: string,
  source: Observable<number>,
  start: (control: StageControl<string>) => Handlers<number, string>,
  expected: string,
])[] = [
  ['each value is worked on', of(1, 2), () => ({ next: (n) => `n${n}` }), 'n1 n2 |'],
  ['undefined is nothing', of(1, 2), () => ({ next: (n) => (n === 1 ? undefined : `n${n}`) }), 'n2 |'],
  ['a first and a last word', of(1), () => ({ first: 'a', next: String, end: () => 'z' }), 'a 1 z |'],
  ['an end that has nothing to say', of(1), () => ({ next: String, end: () => undefined }), '1 |'],
  ['an error passes, without an end', concat(of(1), broken), () => ({ next: String, end: () => 'z' }), '1 broken'],
  ['an error is replaced', concat(of(1), broken), () => ({ next: String, failed: () => 'x' }), '1 x |'],
  ['an error is replaced by another', broken, () => ({ next: String, failed: boom }), 'boom'],
  ['what the work throws is the error', of(1, 2), () => ({ next: (n) => (n === 2 ? boom() : 'a') }), 'a boom'],
  ['what the end throws is the error', of(1), () => ({ next: String, end: boom }), '1 boom'],
  ['what the start throws is the error', of(1), boom, 'boom'],
  [
    'the work ends the stream, and does nothing more',
    of(1, 2, 3),
    (control) => ({
      next(n) {
        if (n === 2) control.complete();
        return n === 3 ? boom() : `n${n}`;
      },
      end: () => 'z',
    }),
    'n1 n2 z |',
  ],
];
for (const [title, source, start, expected] of cases) {
  test(title, (t) => t.is(seen(source.pipe(operate(start))), expected));
}

test('each subscription has work of its own', (t) => {
  const counted = of('a', 'b').pipe(
    operate(() => {
      let count = 0;
      return {
        next(value) {
          count += 1;
          return `${value}${count}`;
        },
      };
    }),
  );
  t.is(seen(counted), 'a1 b2 |');
  t.is(seen(counted), 'a1 b2 |');
});

test('the source is unsubscribed on unsubscription, failure and completion', (t) => {
  const letGo = (listen: (source: Observable<number>) => Subscription): boolean => {
    let gone = false;
    const values = new Subject<number>();
    const source = new Observable<number>((to) => {
      const subscription = values.subscribe(to);
      return () => {
        gone = true;
        subscription.unsubscribe();
      };
    });
    const subscription = listen(source);
    if (!gone) values.next(1);
    return gone || subscription.closed;
  };
  t.true(
    letGo((source) => {
      const subscription = source.pipe(operate(() => ({ next: String }))).subscribe();
      subscription.unsubscribe();
      return new Subscription();
    }),
  );
  t.true(letGo((source) => source.pipe(operate(() => ({ next: boom }))).subscribe({ error: () => {} })));
  t.true(
    letGo((source) =>
      source
        .pipe(
          operate((control) => ({
            next(n) {
              control.complete();
              return n;
            },
          })),
        )
        .subscribe(),
    ),
  );
  t.false(letGo((source) => concat(source.pipe(operate(() => ({ next: String }))), NEVER).subscribe()));
});

test('last values may come later; what follows ends after them', async (t) => {
  const order: string[] = [];
  const late = (name: string) =>
    operate<string, string>(() => ({
      next: (value) => value,
      end: () => `${name} end`,
      ending: () => timer(0).pipe(map(() => `${name} late`)),
      finalize: () => order.push(name),
    }));
  const values = await lastValueFrom(of('a').pipe(late('first'), late('second'), toArray()));
  t.deepEqual(values, ['a', 'first end', 'first late', 'second end', 'second late']);
  t.deepEqual(order, ['first', 'second']);

  const failing = of('a').pipe(
    operate(() => ({ next: String, ending: () => timer(0).pipe(map(boom)), finalize: () => order.push('failed') })),
  );
  await t.throwsAsync(lastValueFrom(failing), { message: 'boom' });
  t.is(order.at(-1), 'failed');

  let left = false;
  const leaving = new Observable<string>(() => () => {
    left = true;
  });
  of('a')
    .pipe(operate(() => ({ next: String, ending: () => leaving })))
    .subscribe()
    .unsubscribe();
  t.true(left, 'who unsubscribes ends it');
});

test('the work learns once that it is over, however that came about', (t) => {
  let overs = 0;
  const counted = <T>(source: Observable<T>) =>
    source.pipe(operate(() => ({ next: String, finalize: () => (overs += 1) }))).subscribe({ error: () => {} });
  counted(of(1));
  t.is(overs, 1);
  counted(broken);
  t.is(overs, 2);
  const running = counted(NEVER);
  t.is(overs, 2);
  running.unsubscribe();
  running.unsubscribe();
  t.is(overs, 3);
});
