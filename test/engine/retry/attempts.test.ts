import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { concat, defer, NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { newDelivery, type Routed } from '../../../engine/exchange.ts';
import { Flow } from '../../../engine/flow.ts';
import { silentMeter } from '../../../engine/metrics/request-meter.ts';
import { type Fault, FaultError } from '../../../engine/model/fault.ts';
import { attempts } from '../../../engine/operators/attempts.ts';
import { decode } from '../../../engine/operators/decode.ts';
import { route } from '../../../engine/operators/route.ts';
import { steps } from '../../../engine/operators/steps.ts';
import type { ReplyPart } from '../../../engine/reply-part.ts';
import { createUpstreamHealth } from '../../../engine/retry/upstream-health.ts';
import type { Yard } from '../../../engine/yard/yard.ts';
import { messagesClient } from '../../../protocols/messages/index.ts';
import { configOf, yardOf } from '../../support/yard.ts';

const provider = (name: string, more: object = {}) => ({
  name,
  baseUrl: 'http://h.invalid',
  apiKey: 'k',
  models: ['m'],
  ...more,
});

/** A yard under a clock and a chance of the test's own. */
const open = (t: ExecutionContext, nowMs: () => number, more: object = {}): Yard =>
  yardOf(
    t,
    configOf({
      Providers: [provider('a'), provider('b'), provider('c', { apiKey: ['k1', 'k2', 'k3', 'k4'] })],
      Router: { default: 'a,m', fallback: { default: ['b,m', 'c,m'] } },
      ...more,
    }),
    { health: createUpstreamHealth({ nowMs, random: () => 0.5 }) },
  );

const exchange = (model = 'any') => ({
  id: 'id',
  seed: '0'.repeat(24),
  startedAtMs: 0,
  client: messagesClient,
  body: Buffer.from(JSON.stringify({ model, max_tokens: 1, messages: [{ role: 'user', content: 'x' }] })),
  clientHeader: () => undefined,
  flow: new Flow(),
  delivery: newDelivery(),
  meter: silentMeter,
});

/** One request whose tries are what `attempt` makes of them. */
const run = (yard: Yard, attempt: (routed: Routed) => Observable<ReplyPart>, asked = exchange()) =>
  of(asked).pipe(steps(decode(9), route(yard)), attempts(yard, attempt));

const faulty = (fault: Partial<Fault>): Observable<never> =>
  throwError(() => new FaultError({ kind: 'upstream-error', message: 'trouble', ...fault }));

const whole: ReplyPart = { type: 'whole', status: 200, headers: {}, body: '' };

/** What `reply` notes of every part. */
const answering = ({ delivery }: Routed, parts: Observable<ReplyPart> = of(whole)): Observable<ReplyPart> =>
  defer(() => {
    delivery.begun = true;
    return parts;
  });

const nameOf = ({ resolution, apiKey }: Routed): string => `${resolution.provider.name} ${apiKey}`;

/** Runs in virtual time and gives each try with its moment. */
const inVirtualTime = (
  t: ExecutionContext,
  attempt: (routed: Routed, count: number) => Observable<ReplyPart>,
  more: object = {},
  model = 'any',
): { readonly tries: readonly string[]; readonly outcome: unknown } => {
  const scheduler = new TestScheduler(() => undefined);
  const tries: string[] = [];
  let outcome: unknown = 'nothing';
  scheduler.run(({ flush }) => {
    const yard = open(t, () => scheduler.now(), more);
    run(
      yard,
      (routed) => {
        tries.push(`${scheduler.now()} ${nameOf(routed)}`);
        return attempt(routed, tries.length);
      },
      exchange(model),
    ).subscribe({
      next: (part) => {
        outcome = part.type;
      },
      error: (error) => {
        outcome = error instanceof FaultError ? error.fault.message : error;
      },
    });
    flush();
  });
  return { tries, outcome };
};

test('R15 each destination three times, with growing waits, then the next; the first one decides', (t) => {
  const { tries, outcome } = inVirtualTime(t, (routed) =>
    faulty({ status: 500, message: `trouble at ${nameOf(routed)}` }),
  );
  t.deepEqual(tries, [
    '0 a k',
    '250 a k',
    '750 a k',
    '750 b k',
    '1000 b k',
    '1500 b k',
    '1500 c k1',
    '1750 c k1',
    '2250 c k1',
  ]);
  t.is(outcome, 'trouble at a k');
});

test('R15 Retry-After is waited for to the millisecond, and never cut short', (t) => {
  const headers = { 'retry-after': '30' };
  const { tries } = inVirtualTime(
    t,
    (routed, count) => (count > 2 ? answering(routed) : faulty({ status: 503, kind: 'upstream-overloaded', headers })),
    { Router: { default: 'a,m' } },
  );
  t.deepEqual(tries, ['0 a k', '30250 a k', '60500 a k']);
});

test('P6 limited keys one after the other at once; the limit on tries holds', (t) => {
  const { tries } = inVirtualTime(t, () => faulty({ kind: 'upstream-rate-limit', status: 429 }), {}, 'c,m');
  t.deepEqual(tries, ['0 c k1', '0 c k2', '0 c k3']);
});

test('a bug is not tried again', (t) => {
  const { tries, outcome } = inVirtualTime(t, () => throwError(() => new TypeError('oops')));
  t.is(tries.length, 1);
  t.true(outcome instanceof TypeError);
});

test('R15 in a storm a fifth of what is live is on a further try, no more', (t) => {
  const yard = open(t, () => 0, {
    Router: { default: 'a,m' },
    RETRY: { baseMs: 0, floor: 0 },
    BREAKER: { faults: 1_000 },
  });
  const firsts: Subject<ReplyPart>[] = [];
  let further = 0;
  const subscriptions = Array.from({ length: 100 }, () =>
    run(yard, ({ repeats }) => {
      if (repeats > 0) {
        further += 1;
        return NEVER;
      }
      const first = new Subject<ReplyPart>();
      firsts.push(first);
      return first;
    }).subscribe({ error: () => undefined }),
  );
  for (const first of firsts) first.error(new FaultError({ kind: 'upstream-cut', message: '' }));
  const [a] = yard.config.providers;
  const traffic = a && yard.health.of(a).traffic;
  t.is(further, 20);
  t.deepEqual(traffic, { live: 20, retrying: 20 });
  for (const subscription of subscriptions) subscription.unsubscribe();
  t.deepEqual(traffic, { live: 0, retrying: 0 });
});

test('R8 whoever leaves between two tries leaves nothing behind', (t) => {
  const scheduler = new TestScheduler(() => undefined);
  let tries = 0;
  scheduler.run(({ flush }) => {
    const yard = open(t, () => scheduler.now());
    const subscription = run(yard, () => {
      tries += 1;
      return faulty({ status: 500 });
    }).subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), 100);
    flush();
    const [a] = yard.config.providers;
    t.deepEqual(a && yard.health.of(a).traffic, { live: 0, retrying: 0 });
  });
  t.is(tries, 1);
  t.is(scheduler.now(), 100, 'no timer is left');
});

test('R16 an answer that breaks off counts as a fault, one whose client leaves does not', (t) => {
  const yard = open(t, () => 0);
  const [a] = yard.config.providers;
  const faults = () => a && yard.health.of(a).model('m').breaker.faults;
  const ends: readonly (readonly [
    title: string,
    faults: number,
    attempt: (routed: Routed) => Observable<ReplyPart>,
  ])[] = [
    ['fails midway', 1, (routed) => answering(routed, concat(of(whole), faulty({ kind: 'upstream-cut' })))],
    [
      'ends in an error event',
      2,
      (routed) =>
        answering(
          routed,
          defer(() => {
            routed.delivery.broken = { kind: 'upstream-error', message: '' };
            return of(whole);
          }),
        ),
    ],
    ['never answers', 2, () => NEVER],
    ['answers', 0, (routed) => answering(routed)],
    ['ends in a fault of ours', 0, () => faulty({ kind: 'internal' })],
  ];
  for (const [title, after, attempt] of ends) {
    run(yard, attempt, exchange('a,m'))
      .subscribe({ error: () => undefined })
      .unsubscribe();
    t.is(faults(), after, title);
  }
});

const kinds = [
  'upstream-error',
  'upstream-cut',
  'upstream-garbled',
  'upstream-rate-limit',
  'upstream-auth',
  'upstream-forbidden',
  'upstream-invalid',
  'upstream-context',
  'unavailable',
] as const;

test('R15 R16 whatever upstreams do: no try after an answer or a client fault, three at most per destination, all let go', (t) => {
  const outcome = fc.oneof(fc.constantFrom(...kinds), fc.constantFrom('answer', 'late fault'));
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 1, maxLength: 12 }), fc.nat(3), (outcomes, budget) => {
      const yard = open(t, () => 0, { RETRY: { baseMs: 0, floor: budget } });
      const tries: string[] = [];
      let over = false;
      run(yard, (routed) => {
        t.false(over, 'nothing follows');
        const what = outcomes[tries.length % outcomes.length] ?? 'answer';
        tries.push(nameOf(routed).charAt(0));
        if (what === 'answer' || what === 'late fault') {
          over = true;
          return answering(routed, what === 'answer' ? of(whole) : concat(of(whole), faulty({ kind: 'upstream-cut' })));
        }
        over = what === 'upstream-forbidden' || what === 'upstream-invalid' || what === 'upstream-context';
        return faulty({ kind: what });
      }).subscribe({ error: () => undefined });
      for (const name of 'abc') {
        const times = tries.filter((tried) => tried === name).length;
        t.true(times <= (budget === 0 ? 1 : 3), tries.join());
      }
      t.is(tries.join(''), tries.toSorted().join(''), 'one destination after the other');
      for (const row of yard.config.providers) t.deepEqual(yard.health.of(row).traffic, { live: 0, retrying: 0 });
    }),
    { numRuns: 300 },
  );
});
