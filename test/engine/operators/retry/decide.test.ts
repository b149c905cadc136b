import test from 'ava';
import fc from 'fast-check';
import { defaultSettings } from '../../../../engine/config/sections/service-settings.ts';
import type { Fault, FaultKind } from '../../../../engine/model/fault.ts';
import type { ModelRequest } from '../../../../engine/model/request.ts';
import {
  decide,
  type RetryDecision,
  type RetrySituation,
  retryAfterMs,
} from '../../../../engine/operators/retry/decide.ts';
import { Addresses } from '../../../../engine/upstream/health/addresses.ts';
import {
  afterFault,
  afterInconclusive,
  afterProbe,
  afterSuccess,
  type Breaker,
  breakerState,
  breakerWaitMs,
  closedBreaker,
} from '../../../../engine/upstream/health/breaker.ts';
import { chooseKey, conversationHash, textHash } from '../../../../engine/upstream/health/choose-key.ts';
import { type Cooldown, Cooldowns, keyFingerprint } from '../../../../engine/upstream/health/cooldowns.ts';
import { classifyFailure, type FailureClass } from '../../../../engine/upstream/health/failure-class.ts';
import {
  createUpstreamHealth,
  isWithinBudget,
  type ModelHealth,
  ProviderHealth,
} from '../../../../engine/upstream/health/health.ts';
import type { HealthEntries } from '../../../../engine/upstream/health/share-health.ts';
import { plainRequest } from '../../../support/context.ts';
import { configOf } from '../../../support/gateway-of.ts';

const defaults = defaultSettings();

const verdicts: readonly (readonly [kind: FaultKind, status: number | undefined, failureClass: FailureClass])[] = [
  ['upstream-unreachable', undefined, 'transient'],
  ['upstream-cut', undefined, 'transient'],
  ['upstream-timeout', undefined, 'transient'],
  ['upstream-timeout', 408, 'transient'],
  ['upstream-timeout', 504, 'transient'],
  ['upstream-overloaded', 503, 'transient'],
  ['upstream-overloaded', 529, 'transient'],
  ['upstream-overloaded', undefined, 'transient'],
  ['upstream-error', 500, 'transient'],
  ['upstream-error', 502, 'transient'],
  ['upstream-error', 522, 'transient'],
  ['upstream-error', undefined, 'transient'],
  ['upstream-error', 501, 'persistent'],
  ['upstream-garbled', 200, 'persistent'],
  ['upstream-invalid', 409, 'busy'],
  ['upstream-error', 425, 'busy'],
  ['upstream-rate-limit', 429, 'rateLimited'],
  ['upstream-auth', 401, 'keyRejected'],
  ['upstream-billing', 402, 'keyRejected'],
  ['upstream-billing', 429, 'keyRejected'],
  ['upstream-forbidden', 403, 'forbidden'],
  ['upstream-invalid', 400, 'final'],
  ['upstream-invalid', 422, 'final'],
  ['upstream-invalid', undefined, 'final'],
  ['upstream-context', 400, 'final'],
  ['upstream-not-found', 404, 'final'],
  ['upstream-too-large', 413, 'oversized'],
  ['upstream-error', 405, 'final'],
  ['unavailable', undefined, 'unavailable'],
  ['misconfigured', undefined, 'unavailable'],
  ['unsupported', undefined, 'incompatible'],
  ['stage-failed', undefined, 'incompatible'],
  ['invalid-request', undefined, 'incompatible'],
  ...(
    [
      'internal',
      'no-route',
      'unauthorized',
      'forbidden',
      'not-found',
      'read-only',
      'method-not-allowed',
      'upgrade-refused',
      'request-timeout',
      'too-large',
      'unsupported-encoding',
      'rate-limited',
      'budget-exceeded',
    ] as const
  ).map((kind) => [kind, undefined, 'final'] as const),
  ['upstream-invalid', 408, 'transient'],
  ['upstream-error', 409, 'busy'],
  ['upstream-error', 499, 'final'],
  ['upstream-error', 505, 'persistent'],
];

test('R15 what each fault says about asking again', (t) => {
  for (const [kind, status, failureClass] of verdicts) {
    t.is(classifyFailure({ kind, status, message: '' }), failureClass, `${kind} ${status}`);
  }
  const elsewhere: Fault = { kind: 'upstream-unreachable', message: '', retryOtherUpstream: true };
  t.is(classifyFailure(elsewhere), 'persistent', 'an unknown name will not be known in a second');
});

const plain: RetrySituation = {
  failureClass: 'transient',
  begun: false,
  retries: 0,
  isFallback: false,
  hasFallback: false,
  hasMember: false,
  hasOtherKey: false,
  hasOtherUrl: false,
  isOpen: false,
  inBudget: true,
  isDiscouraged: false,
  requestedWaitMs: undefined,
  waitedMs: 0,
  random: 0.5,
};
const end: RetryDecision = { type: 'stop' };
const fallback: RetryDecision = { type: 'fallback' };
const again = (afterMs: number, key: 'same' | 'other' = 'same'): RetryDecision => ({ type: 'retry', afterMs, key });

const steps: readonly (readonly [title: string, over: Partial<RetrySituation>, step: RetryDecision])[] = [
  ['a passing fault is tried again after half of the first span', {}, again(250)],
  ['… then half of a span twice as long', { retries: 1 }, again(500)],
  ['… and no third time', { retries: 2 }, end],
  ['… but elsewhere', { retries: 2, hasFallback: true }, fallback],
  ['outside the budget there is no further try', { inBudget: false }, end],
  ['… but another destination', { inBudget: false, hasFallback: true }, fallback],
  ['an open breaker sends it on', { isOpen: true, hasFallback: true }, fallback],
  ['once begun it stays failed', { begun: true, hasFallback: true, hasOtherKey: true }, end],
  ['the wait that was asked for, and a little more', { requestedWaitMs: 5_000 }, again(5_250)],
  ['… up to ten seconds', { requestedWaitMs: 10_000 }, again(10_000)],
  ['… not longer', { requestedWaitMs: 10_001 }, end],
  ['… together with the waits before', { requestedWaitMs: 4_000, waitedMs: 6_000 }, again(4_000)],
  ['… and not longer', { requestedWaitMs: 4_001, waitedMs: 6_000 }, end],
  ['a wait of its own counts as well', { waitedMs: 9_750 }, again(250)],
  ['… and is not begun where there is no time left', { waitedMs: 9_751, hasFallback: true }, fallback],
  ['who has a fallback does not wait for long', { requestedWaitMs: 9_000, hasFallback: true }, fallback],
  ['… but for a moment', { requestedWaitMs: 8_000, hasFallback: true }, again(8_250)],
  ['the upstream advises against it', { isDiscouraged: true }, end],
  ['a lasting fault is for others', { failureClass: 'persistent', hasFallback: true }, fallback],
  ['… if there are any', { failureClass: 'persistent' }, end],
  ['a busy one may be asked again', { failureClass: 'busy' }, again(250)],
  [
    'P6 a limited key: the next one at once',
    { failureClass: 'rateLimited', hasOtherKey: true, requestedWaitMs: 99 },
    again(0, 'other'),
  ],
  ['… no other key, a time: it is waited for', { failureClass: 'rateLimited', requestedWaitMs: 1_000 }, again(1_250)],
  ['… no other key, no time: a short wait', { failureClass: 'rateLimited' }, again(250)],
  ['… no other key, no time, a fallback', { failureClass: 'rateLimited', hasFallback: true }, fallback],
  ['a refused key: the next one', { failureClass: 'keyRejected', hasOtherKey: true }, again(0, 'other')],
  ['… no other: the fallback', { failureClass: 'keyRejected', hasFallback: true }, fallback],
  ['… none: the end', { failureClass: 'keyRejected' }, end],
  ['403 is final, whatever there is', { failureClass: 'forbidden', hasOtherKey: true, hasFallback: true }, end],
  ['what lies in the request is final', { failureClass: 'final', hasOtherKey: true, hasFallback: true }, end],
  ['… at a fallback too', { failureClass: 'final', isFallback: true, hasFallback: true }, end],
  ['a request that fits nowhere here', { failureClass: 'incompatible', hasFallback: true }, end],
  [
    '… but a fallback that it does not fit is passed over',
    { failureClass: 'incompatible', isFallback: true, hasFallback: true },
    fallback,
  ],
  ['another base URL is asked at once', { hasOtherUrl: true, hasMember: true, hasFallback: true }, again(0)],
  ['… also after a fault that lasts', { failureClass: 'persistent', hasOtherUrl: true }, again(0)],
  ['… but not for a limit of the key', { failureClass: 'rateLimited', hasOtherUrl: true, hasFallback: true }, fallback],
  ['… nor beyond the retries', { retries: 2, hasOtherUrl: true }, end],
  ['another member of a pool is asked at once', { hasMember: true, hasFallback: true }, fallback],
  ['… after the other keys', { failureClass: 'rateLimited', hasOtherKey: true, hasMember: true }, again(0, 'other')],
  [
    '… also by a request that does not fit here',
    { failureClass: 'incompatible', hasMember: true, hasFallback: true },
    fallback,
  ],
  ['… but not by a faulty request', { failureClass: 'final', hasMember: true, hasFallback: true }, end],
  ['one that may not be asked now', { failureClass: 'unavailable', hasFallback: true }, fallback],
];
for (const [title, over, step] of steps) {
  test(`R15 next step: ${title}`, (t) => t.deepEqual(decide({ ...plain, ...over }, defaults.retry), step));
}

const anySituation = fc.record({
  failureClass: fc.constantFrom(...new Set(verdicts.map(([, , failureClass]) => failureClass))),
  begun: fc.boolean(),
  retries: fc.nat(4),
  isFallback: fc.boolean(),
  hasFallback: fc.boolean(),
  hasMember: fc.boolean(),
  hasOtherKey: fc.boolean(),
  hasOtherUrl: fc.boolean(),
  isOpen: fc.boolean(),
  inBudget: fc.boolean(),
  isDiscouraged: fc.boolean(),
  requestedWaitMs: fc.option(fc.nat(200_000), { nil: undefined }),
  waitedMs: fc.nat(10_000),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

test('R15 never after the first byte, never on a client fault, never more than the tries and the budget', (t) => {
  fc.assert(
    fc.property(anySituation, (situation) => {
      const step = decide(situation, defaults.retry);
      if (situation.begun || situation.failureClass === 'final' || situation.failureClass === 'forbidden')
        return step.type === 'stop';
      if (step.type === 'fallback') return situation.hasFallback;
      if (step.type === 'stop') return true;
      const { requestedWaitMs = 0 } = situation;
      const waits =
        step.key === 'other' || (step.afterMs === 0 && situation.hasOtherUrl)
          ? step.afterMs === 0
          : step.afterMs >= requestedWaitMs && step.afterMs + situation.waitedMs <= 10_000;
      return situation.retries < 2 && situation.inBudget && !situation.isOpen && waits;
    }),
    { numRuns: 5_000 },
  );
  t.pass();
});

test('R15 the budget is a share of what is live, and a few', (t) => {
  const { retry } = defaults;
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(400), (live, retrying) => {
      const allowed = isWithinBudget({ live, retrying }, retry);
      return allowed ? retrying + 1 <= Math.max(3, live * 0.2) : retrying >= 3 && retrying + 1 > live * 0.2;
    }),
  );
  t.false(isWithinBudget({ live: 1, retrying: 0 }, { ...retry, floor: 0 }));
});

const clock = Date.UTC(2026, 0, 1, 12, 0, 0);
const waits: readonly (readonly [headers: Record<string, string>, ms: number | undefined])[] = [
  [{}, undefined],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '30', 'retry-after': '7' }, 30],
  [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
];
test('R15 what Retry-After says', (t) => {
  for (const [headers, ms] of waits) {
    t.is(retryAfterMs(headers, clock), ms, JSON.stringify(headers));
  }
});

const policy = defaults.breaker;
const fail = (breaker: Breaker, times: number, nowMs = 1_000): Breaker =>
  Array.from({ length: times }).reduce<Breaker>((before) => afterFault(before, false, nowMs, policy), breaker);

test('R16 five faults in a row open it for 30 s, then one may try', (t) => {
  const four = fail(closedBreaker, 4);
  t.is(breakerState(four, 1_000, policy), 'closed');
  t.is(breakerState(fail(afterSuccess(four, false), 4), 1_000, policy), 'closed', 'an answer in between counts');
  const open = fail(four, 1);
  t.is(breakerState(open, 1_001, policy), 'open');
  t.is(breakerWaitMs(open, 11_000, policy), 20_000);
  t.is(breakerState(open, 30_999, policy), 'open');
  t.is(breakerState(open, 31_000, policy), 'half-open');
  const probing = afterProbe(open, 31_000);
  t.is(breakerState(probing, 31_001, policy), 'open', 'one at a time');
  t.is(breakerWaitMs(probing, 31_000, policy), 30_000);
  t.is(breakerState(probing, 61_000, policy), 'half-open', 'unless it takes too long');
  t.is(afterSuccess(probing, true), closedBreaker);
  const again = afterFault(probing, true, 32_000, policy);
  t.is(breakerState(again, 61_999, policy), 'open');
  t.is(breakerState(again, 62_000, policy), 'half-open');
  t.is(breakerState(afterInconclusive(probing, true), 31_001, policy), 'half-open', 'its client left: another may try');
});

test('R16 what began before it opened neither closes it nor keeps it open', (t) => {
  const open = fail(closedBreaker, 5);
  t.is(afterSuccess(open, false), open);
  t.is(afterFault(open, false, 20_000, policy), open);
});

test('R16 whatever happens: open exactly after five faults in a row, never longer than 30 s at a time', (t) => {
  const happening = fc.constantFrom('fault', 'service', 'nothing', 'wait');
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      let breaker = closedBreaker;
      let row = 0;
      let nowMs = 1;
      for (const what of happenings) {
        if (what === 'wait') nowMs += 10_000;
        const state = breakerState(breaker, nowMs, policy);
        if (breakerWaitMs(breaker, nowMs, policy) > policy.openMs) return false;
        if (state === 'open' || what === 'wait') continue;
        const probe = state === 'half-open';
        if (probe) breaker = afterProbe(breaker, nowMs);
        if (!probe) row = what === 'fault' ? row + 1 : what === 'service' ? 0 : row;
        if (what === 'fault') breaker = afterFault(breaker, probe, nowMs, policy);
        if (what === 'service') breaker = afterSuccess(breaker, probe);
        if (what === 'nothing') breaker = afterInconclusive(breaker, probe);
        if (probe && what === 'service') row = 0;
        const isOpen = breakerState(breaker, nowMs, policy) === 'open';
        if (!probe && isOpen !== row >= policy.faults) return false;
        if (probe && isOpen !== (what === 'fault')) return false;
      }
      return true;
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

const ring = ['a', 'b', 'c'];
const cooldowns = new Map<string, Cooldown>([
  ['a', { why: 'limited', untilMs: 50 }],
  ['b', { why: 'refused', untilMs: 40 }],
]);
test('P6 a key in its cooldown is passed over; when all are, the one whose cooldown ends first', (t) => {
  const none = () => undefined;
  t.is(chooseKey(ring, none, 1, undefined).key, 'b');
  t.is(chooseKey(ring, none, 1, 'a').key, 'a', 'a conversation keeps its key');
  t.is(chooseKey(ring, none, 1, 'gone').key, 'b');
  t.is(chooseKey(ring, (key) => cooldowns.get(key), 0, 'a').key, 'c');
  t.deepEqual(
    chooseKey(['a', 'b'], (key) => cooldowns.get(key), 0, undefined),
    { key: 'b', cooldown: cooldowns.get('b') },
  );
  t.is(chooseKey(['b', 'a'], (key) => cooldowns.get(key), 0, undefined).key, 'b', 'in any order');
});

const said = (...texts: readonly string[]): ModelRequest => ({
  ...plainRequest,
  turns: texts.map((text, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text }],
  })),
});

test('a conversation is told by its ids and the end of its first text', (t) => {
  t.is(textHash('a'), 0xe40c292c, 'FNV-1a, 32 bits');
  t.is(textHash(`b${'a'.repeat(1024)}`), textHash('a'.repeat(1024)));
  t.not(textHash(`b${'a'.repeat(1023)}`), textHash('a'.repeat(1024)));
  const hashes = [{}, { user: 'u' }, { promptCacheKey: 'p' }].map((more) =>
    conversationHash({ ...said('x'), ...more }),
  );
  t.is(new Set(hashes).size, 3);
});

test('of several base URLs, the first that has not just failed; else the one that failed first', (t) => {
  const addresses = new Addresses();
  t.is(addresses.choose(3, 0), 0);
  addresses.failed(0, 1_000);
  t.is(addresses.choose(3, 1_000), 1);
  addresses.failed(1, 500);
  t.deepEqual([addresses.choose(2, 1_000), addresses.hasUsable(2, 1_000)], [1, false]);
  t.deepEqual([addresses.choose(3, 1_000), addresses.hasUsable(3, 1_000)], [2, true]);
  t.deepEqual([addresses.choose(2, 30_500), addresses.hasUsable(2, 30_500)], [1, true]);
  t.is(addresses.choose(2, 31_000), 0);
});

test('keys take turns, and a conversation stays on its own', (t) => {
  const provider = new ProviderHealth();
  const model = provider.model('m');
  const keyFor = (request: ModelRequest) => provider.chooseKey(ring, request, model, 0).key;
  t.deepEqual([keyFor(said('x')), keyFor(said('x')), keyFor(said('x')), keyFor(said('y'))], ['a', 'b', 'c', 'a']);
  provider.remember(said('y'), 'a');
  t.is(conversationHash(said('y')), conversationHash(said('y', 'an answer', 'more')));
  t.is(keyFor(said('y', 'an answer', 'more')), 'a');
  t.is(keyFor(said('z', 'an answer', 'more')), 'b', 'an unknown one takes its turn');
  t.is(keyFor(said('y', 'an answer', 'more', '', 'and more')), 'a');
});

test('R16 P6 what a model and its keys learn from each fault', (t) => {
  const outcomes: readonly (readonly [FailureClass, breaker: number, here: boolean, elsewhere: boolean])[] = [
    ['transient', 1, false, false],
    ['persistent', 1, false, false],
    ['busy', 0, false, false],
    ['rateLimited', 0, true, false],
    ['keyRejected', 0, true, true],
    ['forbidden', 0, true, false],
    ['unavailable', 0, false, false],
    ['incompatible', 0, false, false],
    ['final', 0, false, false],
  ];
  for (const [failureClass, faults, here, elsewhere] of outcomes) {
    const provider = new ProviderHealth();
    const model = provider.model('m');
    model.failed(
      { failureClass, key: 'a', probe: false, counted: false, isAnswered: true, requestedWaitMs: undefined },
      0,
      defaults,
    );
    t.is(model.breaker.faults, faults, failureClass);
    t.is(model.cooldownOf('a', 1) !== undefined, here, failureClass);
    t.is(provider.model('n').cooldownOf('a', 1) !== undefined, elsewhere, failureClass);
    t.is(model.cooldownOf('b', 1), undefined, failureClass);
    t.is(model.cooldownOf('a', 300_000), undefined, `${failureClass}: no longer`);
  }
  const model = new ProviderHealth().model('m');
  model.failed(
    { failureClass: 'rateLimited', key: 'a', probe: false, counted: false, isAnswered: true, requestedWaitMs: 7_000 },
    0,
    defaults,
  );
  t.is(model.cooldownOf('a', 6_999)?.why, 'limited');
  t.is(model.cooldownOf('a', 7_000), undefined, 'as long as the upstream asks');
});

interface Machine {
  readonly model: (name: string) => ModelHealth;
  /** What it has published, in words. */
  readonly said: string[];
}

/** Processes that share what they learn of one provider; those with a name are on machines of their own. */
const sharing = (clock: { nowMs: number }, ...machines: readonly (string | undefined)[]): readonly Machine[] => {
  const [provider] = configOf({
    Providers: [{ name: 'p', baseUrl: 'http://p.invalid', apiKey: ['k1', 'k2'], models: ['m'] }],
  }).providers;
  if (!provider) throw new Error('no provider');
  type Listener = Parameters<HealthEntries['onEntry']>[0];
  const listeners: Listener[] = [];
  const claims = new Set<string>();
  return machines.map((machine, index) => {
    const words: string[] = [];
    const facts: HealthEntries = {
      publish(fact) {
        words.push(`${fact.id.replace(/"p [^"]*",|[^\w,-]/g, '')} ${fact.value} ${fact.forMs}`);
        for (const [at, listener] of listeners.entries()) if (at !== index) listener(fact);
      },
      onEntry: (listener) => listeners.push(listener),
      async claim(id) {
        if (claims.has(id)) return undefined;
        claims.add(id);
        return () => claims.delete(id);
      },
    };
    const health = createUpstreamHealth({ nowMs: () => clock.nowMs, random: () => 0 }, facts, machine);
    return { said: words, model: (name) => health.of(provider).model(name) };
  });
};

const failure = {
  failureClass: 'transient',
  key: 'k1',
  probe: false,
  counted: false,
  isAnswered: true,
  requestedWaitMs: undefined,
} as const;
const waitOf = (health: ModelHealth | undefined, nowMs: number) => health?.admit(nowMs, defaults.breaker).waitMs;
const { faults: most, openMs } = defaults.breaker;

test('R16 P6 processes share open breakers, successful probes and cooldowns of keys', (t) => {
  const clock = { nowMs: 1_000 };
  const [one, two] = sharing(clock, undefined, undefined);
  if (!one || !two) return t.fail();
  for (let count = 0; count < most; count += 1) one.model('m').failed(failure, clock.nowMs, defaults);
  t.deepEqual(one.said.splice(0), [`b,m open ${openMs}`]);
  t.is(waitOf(two.model('m'), clock.nowMs), openMs);
  t.is(waitOf(two.model('n'), clock.nowMs), 0);
  two.model('m').openedByOthers(clock.nowMs + 1);
  t.is(waitOf(two.model('m'), clock.nowMs), openMs, 'an earlier end changes nothing');
  clock.nowMs += openMs;
  t.true(two.model('m').admit(clock.nowMs, defaults.breaker).probe);
  two.model('m').served(true);
  t.deepEqual(two.said.splice(0), ['b,m closed 10000']);
  t.deepEqual(one.model('m').admit(clock.nowMs, defaults.breaker), { probe: false, waitMs: 0 });
  one.model('m').served(false);
  t.deepEqual(one.said, [], 'a breaker that was closed is not closed again');

  const print = keyFingerprint('k1');
  t.regex(print, /^[\w-]{16}$/);
  two.model('m').failed({ ...failure, failureClass: 'rateLimited', requestedWaitMs: 7_000 }, clock.nowMs, defaults);
  two
    .model('m')
    .failed({ ...failure, failureClass: 'rateLimited', key: 'k2', requestedWaitMs: 9e9 }, clock.nowMs, defaults);
  two.model('n').failed({ ...failure, failureClass: 'forbidden' }, clock.nowMs, defaults);
  const { refusedMs } = defaults.keys;
  t.deepEqual(two.said.splice(0), [
    `k,${print},m limited 7000`,
    `k,${keyFingerprint('k2')},m limited 3600000`,
    `k,${print},n forbidden ${refusedMs}`,
  ]);
  t.deepEqual(one.model('m').cooldownOf('k1', clock.nowMs), { why: 'limited', untilMs: clock.nowMs + 7_000 });
  t.is(one.model('n').cooldownOf('k1', clock.nowMs)?.why, 'forbidden');
  t.is(one.model('o').cooldownOf('k1', clock.nowMs), undefined);
  one.model('m').failed({ ...failure, failureClass: 'keyRejected' }, clock.nowMs, defaults);
  t.deepEqual(one.said, [`k,${print} refused ${refusedMs}`]);
  t.deepEqual(two.model('o').cooldownOf('k1', clock.nowMs), { why: 'refused', untilMs: clock.nowMs + refusedMs });
});

test('R16 a breaker opens once two machines get no answer', (t) => {
  const clock = { nowMs: 1_000 };
  const [one, two, three] = sharing(clock, 'one', 'two', 'three');
  if (!one || !two || !three) return t.fail();
  const silent = { ...failure, isAnswered: false };
  for (let count = 0; count < most; count += 1) one.model('m').failed(silent, clock.nowMs, defaults);
  t.deepEqual(one.said.splice(0), [`w,m,one open ${openMs}`]);
  t.is(waitOf(two.model('m'), clock.nowMs), 0, 'the network of the one may be the cause');
  two.model('m').suspectedByOthers('one', clock.nowMs + openMs, clock.nowMs);
  t.is(waitOf(two.model('m'), clock.nowMs), 0, 'it is still one machine');
  two.model('m').failed(silent, clock.nowMs, defaults);
  t.is(waitOf(two.model('m'), clock.nowMs), openMs, 'one fault of its own is enough');
  t.deepEqual(two.said, [`w,m,two open ${openMs}`]);
  t.is(waitOf(three.model('m'), clock.nowMs), openMs, 'two machines are enough');

  clock.nowMs += openMs;
  one.model('m').admit(clock.nowMs, defaults.breaker);
  one.model('m').served(true);
  two.model('m').failed(silent, clock.nowMs, defaults);
  t.is(two.model('m').breaker.openUntilMs, 0, 'a successful probe ends the suspicion');
  two.model('n').suspectedByOthers('one', clock.nowMs, clock.nowMs);
  two.model('n').failed(silent, clock.nowMs, defaults);
  t.is(waitOf(two.model('n'), clock.nowMs), 0, 'a suspicion ends with its time');
});

test('R16 processes of one machine believe each other without a second machine', (t) => {
  const clock = { nowMs: 1_000 };
  const [one, two, other] = sharing(clock, 'one', 'one', 'other');
  if (!one || !two || !other) return t.fail();
  for (let count = 0; count < most; count += 1) {
    one.model('m').failed({ ...failure, isAnswered: false }, clock.nowMs, defaults);
  }
  const waits = [two, other].map(({ model }) => waitOf(model('m'), clock.nowMs));
  t.deepEqual(waits, [openMs, 0]);
});

test('R16 one process at a time probes an upstream', async (t) => {
  const clock = { nowMs: 1_000 };
  const [one, two] = sharing(clock, undefined, undefined);
  if (!one || !two) return t.fail();
  const claim = ({ model }: typeof one) => model('m').claimProbe(clock.nowMs, defaults.breaker);
  const admit = ({ model }: typeof one, mayProbe: boolean | undefined) =>
    model('m').admit(clock.nowMs, defaults.breaker, mayProbe);
  t.is(claim(one), undefined, 'closed');
  for (let count = 0; count < most; count += 1) one.model('m').failed(failure, clock.nowMs, defaults);
  t.is(claim(one), undefined, 'open');

  clock.nowMs += openMs;
  t.deepEqual(admit(one, await claim(one)), { probe: true, waitMs: 0 });
  t.deepEqual(admit(two, await claim(two)), { probe: false, waitMs: 1_000 });
  one.model('m').left(true);
  t.true(admit(two, await claim(two)).probe, 'a probe without an outcome is followed by another one');
  two.model('m').failed({ ...failure, probe: true }, clock.nowMs, defaults);
  t.is(waitOf(one.model('m'), clock.nowMs), openMs, 'it has failed');

  clock.nowMs += openMs;
  t.true(admit(one, await claim(one)).probe);
  one.model('m').served(true);
  t.is(claim(two), undefined, 'it has closed the breaker of both');
  for (let count = 0; count < most; count += 1) two.model('m').failed(failure, clock.nowMs, defaults);
  clock.nowMs += openMs;
  t.true(await claim(two), 'the claim was released');
  t.false(await claim(one));
  two.model('m').releaseUnusedProbe();
  t.true(admit(one, await claim(one)).probe, 'a claim that is not used is given up');
  one.model('m').releaseUnusedProbe();
  t.false(await claim(two), 'the probe is under way');
});

test('facts of other processes that make no sense change nothing', (t) => {
  const listeners: Parameters<HealthEntries['onEntry']>[0][] = [];
  const facts: HealthEntries = {
    publish: () => {},
    onEntry: (listener) => listeners.push(listener),
    claim: () => undefined,
  };
  const health = createUpstreamHealth({ nowMs: () => 0, random: () => 0 }, facts);
  const [provider] = configOf({
    Providers: [{ name: 'p', baseUrl: 'http://p.invalid', apiKey: 'k', models: ['m'] }],
  }).providers;
  if (!provider) return t.fail();
  const name = `p ${provider.baseUrl.href}`;
  const print = keyFingerprint('k');
  const say = (id: unknown, value: string) => {
    for (const listener of listeners)
      listener({ id: typeof id === 'string' ? id : JSON.stringify(id), value, forMs: 9 });
  };
  for (const id of ['{', ['b', name], ['x', name, 'm'], ['w', name, 'm'], ['b', name, 'm', 'n']]) say(id, 'open');
  say(['k', name, print], 'bored');
  const model = health.of(provider).model('m');
  t.deepEqual([waitOf(model, 0), model.cooldownOf('k', 0)], [0, undefined]);
  say(['b', name, 'm'], 'open');
  say(['k', name, print], 'refused');
  t.deepEqual([waitOf(model, 0), model.cooldownOf('k', 0)], [9, { why: 'refused', untilMs: 9 }]);
});

test('of too many cooldowns, the oldest is forgotten', (t) => {
  const cooldowns = new Cooldowns();
  for (let count = 0; count <= 1_000; count += 1)
    cooldowns.set(keyFingerprint(`k${count}`), { why: 'limited', untilMs: 9 });
  t.deepEqual(
    [0, 1, 1_000].map((count) => cooldowns.of(`k${count}`, 8)?.untilMs),
    [undefined, 9, 9],
  );
  t.is(cooldowns.of('k1', 9), undefined);
});
