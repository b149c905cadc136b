import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { concat, defer, NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { Exchange, type Routed } from '../../../../engine/exchange.ts';
import type { ReplyPart } from '../../../../engine/http/endpoint.ts';
import { type Fault, FaultError } from '../../../../engine/model/fault.ts';
import { decode } from '../../../../engine/operators/decode.ts';
import { retry } from '../../../../engine/operators/retry/retry.ts';
import { route } from '../../../../engine/operators/route.ts';
import { sequence } from '../../../../engine/operators/rx/sequence.ts';
import type { Gateway } from '../../../../engine/routing/gateway.ts';
import { createUpstreamHealth } from '../../../../engine/upstream/health/health.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { incomingOf } from '../../../support/context.ts';
import { configOf, gatewayOf } from '../../../support/gateway-of.ts';

const provider = (name: string, more: object = {}) => ({
  name,
  baseUrl: 'http://h.invalid',
  apiKey: 'k',
  models: ['m'],
  ...more,
});

/** A yard under a clock and a chance of the test's own. */
const open = (t: ExecutionContext, nowMs: () => number, more: object = {}): Gateway =>
  gatewayOf(
    t,
    configOf({
      Providers: [provider('a'), provider('b'), provider('c', { apiKey: ['k1', 'k2', 'k3', 'k4'] })],
      Router: { default: 'a,m', fallback: { default: ['b,m', 'c,m'] } },
      ...more,
    }),
    { health: createUpstreamHealth({ nowMs, random: () => 0.5 }) },
  );

const exchange = (model = 'any') =>
  new Exchange({
    incoming: incomingOf({ model, max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }),
    client: messagesClient,
  });

/** One request whose tries are what `attempt` makes of them. */
const run = (gateway: Gateway, attempt: (routed: Routed) => Observable<ReplyPart>, asked = exchange()) =>
  of(asked).pipe(
    sequence(
      decode(gateway.config),
      route(gateway),
      retry<ReplyPart>(gateway, sequence(attempt), ({ type }) => type !== 'head'),
    ),
  );

const faulty = (fault: Partial<Fault>): Observable<never> =>
  throwError(() => new FaultError({ kind: 'upstream-error', message: 'trouble', ...fault }));

const whole: ReplyPart = { type: 'whole', status: 200, headers: {}, body: '' };

/** What `reply` notes of every part. */
const answering = ({ progress }: Routed, parts: Observable<ReplyPart> = of(whole)): Observable<ReplyPart> =>
  defer(() => {
    progress.begun = true;
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
    const gateway = open(t, () => scheduler.now(), more);
    run(
      gateway,
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
  t.is(outcome, 'trouble at a k (provider a, model m)');
});

test('R15 Retry-After is waited for to the millisecond, and never cut short', (t) => {
  const headers = { 'retry-after': '4' };
  const { tries } = inVirtualTime(
    t,
    (routed, count) => (count > 2 ? answering(routed) : faulty({ status: 503, kind: 'upstream-overloaded', headers })),
    { Router: { default: 'a,m' } },
  );
  t.deepEqual(tries, ['0 a k', '4250 a k', '8500 a k']);
});

test('all waits of a request stay below ten seconds, at all its destinations together', (t) => {
  const asking = (seconds: string) => () =>
    faulty({ status: 503, kind: 'upstream-overloaded', headers: { 'retry-after': seconds } });
  t.deepEqual(inVirtualTime(t, asking('4')).tries, ['0 a k', '4250 a k', '8500 a k', '8500 b k', '8500 c k1']);
  t.deepEqual(inVirtualTime(t, asking('45')).tries, ['0 a k', '0 b k', '0 c k1']);
  const alone = { Router: { default: 'a,m' } };
  t.deepEqual(inVirtualTime(t, asking('45'), alone).tries, ['0 a k'], 'the client is told at once');
  const patient = { RETRY: { attempts: 10 }, ...alone };
  const { tries } = inVirtualTime(t, () => faulty({ status: 500 }), patient);
  t.deepEqual(tries, ['0 a k', '250 a k', '750 a k', '1750 a k', '3750 a k', '7750 a k']);
});

test('R16 a request counts once for the breaker, however many tries it makes; each destination has its own', (t) => {
  const scheduler = new TestScheduler(() => undefined);
  let tries = 0;
  scheduler.run(({ flush }) => {
    const gateway = open(t, () => scheduler.now(), { BREAKER: { faults: 2 } });
    const faults = () => gateway.config.providers.map((row) => gateway.health.of(row).model('m').breaker.faults);
    const ask = () =>
      run(gateway, () => {
        tries += 1;
        return faulty({ status: 500 });
      }).subscribe({ error: () => undefined });
    ask();
    flush();
    t.is(tries, 9);
    t.deepEqual(faults(), [1, 1, 1]);
    ask();
    flush();
    t.deepEqual(faults(), [2, 2, 2]);
    t.is(tries, 12, 'the second fault opens the breaker, so that no further try follows');
  });
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
  const gateway = open(t, () => 0, {
    Router: { default: 'a,m' },
    RETRY: { baseMs: 0, floor: 0 },
    BREAKER: { faults: 1_000 },
  });
  const firsts: Subject<ReplyPart>[] = [];
  let further = 0;
  const subscriptions = Array.from({ length: 100 }, () =>
    run(gateway, ({ retries }) => {
      if (retries > 0) {
        further += 1;
        return NEVER;
      }
      const first = new Subject<ReplyPart>();
      firsts.push(first);
      return first;
    }).subscribe({ error: () => undefined }),
  );
  for (const first of firsts) first.error(new FaultError({ kind: 'upstream-cut', message: '' }));
  const [a] = gateway.config.providers;
  const traffic = a && gateway.health.of(a).traffic;
  t.is(further, 20);
  t.deepEqual(traffic, { live: 20, retrying: 20 });
  for (const subscription of subscriptions) subscription.unsubscribe();
  t.deepEqual(traffic, { live: 0, retrying: 0 });
});

test('R8 a client that disconnects between two attempts leaves nothing behind', (t) => {
  const scheduler = new TestScheduler(() => undefined);
  let tries = 0;
  scheduler.run(({ flush }) => {
    const gateway = open(t, () => scheduler.now());
    const subscription = run(gateway, () => {
      tries += 1;
      return faulty({ status: 500 });
    }).subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), 100);
    flush();
    const [a] = gateway.config.providers;
    t.deepEqual(a && gateway.health.of(a).traffic, { live: 0, retrying: 0 });
  });
  t.is(tries, 1);
  t.is(scheduler.now(), 100, 'no timer is left');
});

test('R16 an answer that breaks off counts as a fault, one whose client leaves does not', (t) => {
  const gateway = open(t, () => 0);
  const [a] = gateway.config.providers;
  const faults = () => a && gateway.health.of(a).model('m').breaker.faults;
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
            routed.progress.broken = { kind: 'upstream-error', message: '' };
            return of(whole);
          }),
        ),
    ],
    ['never answers', 2, () => NEVER],
    ['answers', 0, (routed) => answering(routed)],
    ['ends in a fault of ours', 0, () => faulty({ kind: 'internal' })],
  ];
  for (const [title, after, attempt] of ends) {
    run(gateway, attempt, exchange('a,m'))
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

test('R15 R16 whatever upstreams do: no attempt after an answer or a client fault, at most three per destination, all released', (t) => {
  const outcome = fc.oneof(fc.constantFrom(...kinds), fc.constantFrom('answer', 'late fault'));
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 1, maxLength: 12 }), fc.nat(3), (outcomes, budget) => {
      const gateway = open(t, () => 0, { RETRY: { baseMs: 0, floor: budget } });
      const tries: string[] = [];
      let over = false;
      run(gateway, (routed) => {
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
      for (const row of gateway.config.providers) t.deepEqual(gateway.health.of(row).traffic, { live: 0, retrying: 0 });
    }),
    { numRuns: 100 },
  );
});
